//! Dates of the proleptic Gregorian calendar, as templates write them. No clock is read.

const MONTHS: &str = "January February March April May June July August September October November December";
const DAYS: &str = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday";

/// Year, month from 1, and day of the month of a day since 1970, by the proleptic Gregorian calendar (Hinnant 2013,
/// "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`): years begin in March, so that a leap day is a year's last.
fn civil_date(days: i64) -> (i64, i64, i64) {
    let (era, of_era) = ((days + 719_468).div_euclid(146_097), (days + 719_468).rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = (from_march + 2) % 12 + 1;
    (era * 400 + year_of_era + i64::from(month <= 2), month, of_year - (153 * from_march + 2) / 5 + 1)
}

/// The day since 1970 of a year, month and day of the month: the inverse of [`civil_date`], by the same source's `days_from_civil`.
const fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The seconds since 1970 at which a date such as `2024-07-26` begins, in UTC; `None` where it is none.
pub(crate) fn seconds_of(date: &str) -> Option<i64> {
    if date.len() != "2024-07-26".len() {
        return None;
    }
    let parts: Vec<i64> = date.splitn(3, '-').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let &[year, month, day] = &parts[..] else { return None };
    let days = day_of(year, month, day);
    let is_written_so = format!("{year:04}-{month:02}-{day:02}") == date && civil_date(days) == (year, month, day);
    is_written_so.then_some(days * 86_400)
}

/// `strftime` of Python in the C locale and in UTC, for the directives that chat templates use. `Err` is an unknown directive.
pub(super) fn strftime(seconds: i64, format: &str) -> Result<String, String> {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let ((year, month, day), (hour, minute, second)) = (civil_date(days), (rest / 3600, rest / 60 % 60, rest % 60));
    let name = |names: &'static str, at: i64| names.split(' ').nth(at as usize).unwrap_or_default();
    let month_name = name(MONTHS, month - 1);
    // 1970 began on a Thursday.
    let day_name = name(DAYS, (days + 3).rem_euclid(7));
    let new_year = (days - 366..=days).find(|&first| civil_date(first) == (year, 1, 1)).unwrap_or(days);
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        let directive = if c == '%' { chars.next() } else { None };
        let text = match (c, directive) {
            ('%', Some('Y')) => format!("{year:04}"),
            ('%', Some('y')) => format!("{:02}", year.rem_euclid(100)),
            ('%', Some('m')) => format!("{month:02}"),
            ('%', Some('d')) => format!("{day:02}"),
            ('%', Some('e')) => format!("{day:2}"),
            ('%', Some('j')) => format!("{:03}", days - new_year + 1),
            ('%', Some('B')) => month_name.to_owned(),
            ('%', Some('b' | 'h')) => month_name[..3].to_owned(),
            ('%', Some('A')) => day_name.to_owned(),
            ('%', Some('a')) => day_name[..3].to_owned(),
            ('%', Some('H')) => format!("{hour:02}"),
            ('%', Some('I')) => format!("{:02}", (hour + 11) % 12 + 1),
            ('%', Some('p')) => if hour < 12 { "AM" } else { "PM" }.to_owned(),
            ('%', Some('M')) => format!("{minute:02}"),
            ('%', Some('S')) => format!("{second:02}"),
            ('%', Some('F')) => format!("{year:04}-{month:02}-{day:02}"),
            ('%', Some('T')) => format!("{hour:02}:{minute:02}:{second:02}"),
            ('%', Some('Z')) => "UTC".to_owned(),
            ('%', Some('z')) => "+0000".to_owned(),
            ('%', Some('%')) => "%".to_owned(),
            ('%', unknown) => return Err(unknown.map_or_else(|| "%".to_owned(), |unknown| format!("%{unknown}"))),
            (plain, _) => plain.to_string(),
        };
        out.push_str(&text);
    }
    Ok(out)
}
