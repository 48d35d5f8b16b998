//! Harness shared by the scenario tests, properties, fuzz targets and benches.
