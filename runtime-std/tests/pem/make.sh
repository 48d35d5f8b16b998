#!/usr/bin/env bash
# Makes the certificates and keys that TLS is tested with, all anew. They are valid until 2126 and good for nothing else:
# the authority's own key is thrown away.
set -eu
cd "$(dirname "$0")"
here=$PWD
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }

cat >ca.cnf <<END
[ca]
default_ca = here
[here]
database = index
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = optional
[req]
distinguished_name = name
[name]
[server]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, IP:127.0.0.1, IP:::1
[other]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = DNS:other.example, DNS:*.wild.example
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
[itself]
basicConstraints = critical, CA:TRUE
subjectAltName = DNS:localhost, IP:127.0.0.1, IP:::1
[client]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = clientAuth
subjectAltName = DNS:localhost
END
: >index
echo 01 >serial

key ca.key
key server.key
key client.key

# signed FILE KEY SECTION FROM UNTIL ARGUMENT...: a certificate for that key, signed as the arguments say.
signed() {
    local file=$1 key=$2 section=$3 from=$4 until=$5
    shift 5
    openssl req -new -key "$key" -subj "/CN=$section" -out request -config ca.cnf
    openssl ca -batch -notext -config ca.cnf -extensions "$section" -startdate "$from" -enddate "$until" \
        -in request -out "$file" "$@" 2>/dev/null
}
from=20200101000000Z until=21260101000000Z
signed ca.pem ca.key authority $from $until -selfsign -keyfile ca.key
by_ca=(-cert ca.pem -keyfile ca.key)
signed server.pem server.key server $from $until "${by_ca[@]}"
signed other.pem server.key other $from $until "${by_ca[@]}"
signed expired.pem server.key server $from 20210101000000Z "${by_ca[@]}"
signed future.pem server.key server 21250101000000Z $until "${by_ca[@]}"
signed purpose.pem server.key client $from $until "${by_ca[@]}"
signed client.pem client.key client $from $until "${by_ca[@]}"
# By their own keys: one that says that it is no authority, and one as openssl makes it by itself.
signed self.pem server.key server $from $until -selfsign -keyfile server.key
signed selfca.pem server.key itself $from $until -selfsign -keyfile server.key
# Of the same name as self.pem, by another key: what is trusted where that was made anew.
signed former.pem client.key server $from $until -selfsign -keyfile client.key

cp ca.pem server.pem other.pem expired.pem future.pem purpose.pem client.pem self.pem selfca.pem former.pem server.key client.key "$here"
chmod 644 "$here"/*.key
