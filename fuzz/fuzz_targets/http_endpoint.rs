#![no_main]

use libfuzzer_sys::fuzz_target;
use sanswire_tests::web_chaos::check_http_endpoint;

fuzz_target!(|data: &[u8]| check_http_endpoint(data));
