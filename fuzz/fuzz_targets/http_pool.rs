#![no_main]

use libfuzzer_sys::fuzz_target;
use sanswire_tests::pool_chaos::check_http_pool;

fuzz_target!(|data: &[u8]| check_http_pool(data));
