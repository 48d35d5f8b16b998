//! Tables and properties of the waist as a whole.

mod brakes;
mod dispatch;
mod record;
