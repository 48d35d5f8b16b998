#![no_main]

use libfuzzer_sys::fuzz_target;
use sanswire_tests::properties::check_schema_round_trip;

fuzz_target!(|data: &[u8]| check_schema_round_trip(data));
