#![no_main]

use libfuzzer_sys::fuzz_target;
use sanswire_tests::properties::check_server_bytes;

fuzz_target!(|data: &[u8]| check_server_bytes(data));
