# Whether each package may be used under the licences of deny.toml. In: that file, then lines "name|expression". Out: the
# packages that may not. An expression is what crates write: `A OR B`, `A AND (B OR C)`, `A WITH exception`, and `A/B` of old.

FNR == NR {
    if (/^allow = \[/) { inside = 1; next }
    if (/^\]/) inside = 0
    if (inside) { gsub(/^ *"|",? *$/, ""); allowed[$0] = 1 }
    if (match($0, /allow = \["[^"]+"\], crate = "[^"]+"/)) {
        split(substr($0, RSTART, RLENGTH), part, "\"")
        excepted[part[4] "|" part[2]] = 1
    }
    next
}

function may(name, licence) { return (licence in allowed) || ((name "|" licence) in excepted) }

# The tokens of one expression, which a small descent reads: OR of ANDs of names and brackets.
function either(    good) {
    good = all()
    while (token[at] == "OR") { at++; if (all()) good = 1 }
    return good
}
function all(    good) {
    good = one()
    while (token[at] == "AND") { at++; if (!one()) good = 0 }
    return good
}
function one(    good, licence) {
    if (token[at] == "(") { at++; good = either(); at++; return good }
    licence = token[at++]
    if (token[at] == "WITH") { licence = licence " WITH " token[at + 1]; at += 2 }
    return may(package, licence)
}

{
    split($0, field, "|")
    if (seen[$0]++) next
    package = field[1]
    text = field[2]
    gsub(/\//, " OR ", text)
    gsub(/[()]/, " & ", text)
    delete token
    n = split(text, token, " ")
    at = 1
    checked++
    if (n == 0 || !either() || at <= n) { print package ": " (field[2] == "" ? "no licence" : field[2]); bad = 1 }
}

END { if (!bad) print checked " packages" ; exit bad }
