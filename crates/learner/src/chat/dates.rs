//! Dates as templates write them, in UTC. No clock is read.

use chrono::{DateTime, NaiveDate, NaiveTime};

/// Directives of Python's `strftime` that chat templates use, which chrono writes as Python does in the C locale. It has others that differ.
const DIRECTIVES: &str = "YymdejBbhAaHIpMSFTZz%";

/// The seconds since 1970 at which a date such as `2024-07-26` begins, in UTC; `None` where it is none.
pub(crate) fn seconds_of(date: &str) -> Option<i64> {
    // chrono reads `2024-7-9` too.
    let day = date.parse::<NaiveDate>().ok().filter(|day| day.to_string() == date)?;
    Some(day.and_time(NaiveTime::MIN).and_utc().timestamp())
}

/// `strftime` of Python in the C locale and in UTC, for [`DIRECTIVES`]. `Err` is what it does not know: another directive, or a time beyond chrono's.
pub(super) fn strftime(seconds: i64, format: &str) -> Result<String, String> {
    let mut chars = format.chars();
    while chars.any(|c| c == '%') {
        match chars.next() {
            Some(directive) if DIRECTIVES.contains(directive) => {}
            unknown => return Err(unknown.map_or_else(|| "%".to_owned(), |unknown| format!("%{unknown}"))),
        }
    }
    let time = DateTime::from_timestamp(seconds, 0).ok_or_else(|| format!("{seconds} seconds since 1970"))?;
    Ok(time.format(format).to_string())
}
