#![no_main]

use libfuzzer_sys::fuzz_target;
use sanswire_tests::properties::check_legality;

fuzz_target!(|data: &[u8]| check_legality(data));
