//! Tests of what no one module shows by itself.
