#![no_main]

use libfuzzer_sys::fuzz_target;
use sanswire_tests::site_chaos::check_http_site;

fuzz_target!(|data: &[u8]| check_http_site(data));
