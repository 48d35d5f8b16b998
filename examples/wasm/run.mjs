// Runs a program that was built for wasm32-unknown-unknown: node examples/wasm/run.mjs PROGRAM
// It imports nothing, so there is nothing to give it. A page does the same, with what `fetch` brings.
import { readFileSync } from "node:fs";

const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
// What panics there ends in an error here.
process.exitCode = instance.exports.main(0, 0);
