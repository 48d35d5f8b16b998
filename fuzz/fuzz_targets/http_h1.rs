#![no_main]

use libfuzzer_sys::fuzz_target;
use sanswire_tests::properties::check_http_h1;

fuzz_target!(|data: &[u8]| check_http_h1(data));
