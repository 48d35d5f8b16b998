#![no_main]

use libfuzzer_sys::fuzz_target;
use sanswire_tests::properties::check_http_exchange;

fuzz_target!(|data: &[u8]| check_http_exchange(data));
