//! `strftime` of Python in the C locale and in UTC, for the directives that chat templates use.

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// A moment in UTC.
struct Moment {
    year: i64,
    /// From 0.
    month: usize,
    /// From 1.
    day: i64,
    /// From 1.
    day_of_year: i64,
    /// From 0 for Monday.
    weekday: usize,
    hour: i64,
    minute: i64,
    second: i64,
}

impl Moment {
    /// Of seconds since 1970, by the proleptic Gregorian calendar.
    fn new(seconds: i64) -> Self {
        let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (mut year, mut left) = (1970 + days.div_euclid(146_097) * 400, days.rem_euclid(146_097));
        while left >= year_length(year) {
            left -= year_length(year);
            year += 1;
        }
        let day_of_year = left + 1;
        let mut month = 0;
        while left >= month_length(year, month) {
            left -= month_length(year, month);
            month += 1;
        }
        // 1970 began on a Thursday.
        let weekday = (days + 3).rem_euclid(7) as usize;
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        Self { year, month, day: left + 1, day_of_year, weekday, hour, minute, second }
    }
}

const fn leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn year_length(year: i64) -> i64 {
    if leap(year) { 366 } else { 365 }
}

const fn month_length(year: i64, month: usize) -> i64 {
    match month {
        1 if leap(year) => 29,
        1 => 28,
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}

/// `format` with its directives filled in. `Err` is the directive that is not known.
pub(super) fn strftime(seconds: i64, format: &str) -> Result<String, String> {
    let moment = Moment::new(seconds);
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let directive: String = chars.next().into_iter().collect();
        out.push_str(&field(&moment, &directive).ok_or_else(|| format!("%{directive}"))?);
    }
    Ok(out)
}

fn field(m: &Moment, directive: &str) -> Option<String> {
    let twelve = (m.hour + 11) % 12 + 1;
    Some(match directive {
        "Y" => format!("{:04}", m.year),
        "y" => format!("{:02}", m.year.rem_euclid(100)),
        "m" => format!("{:02}", m.month + 1),
        "d" => format!("{:02}", m.day),
        "e" => format!("{:2}", m.day),
        "j" => format!("{:03}", m.day_of_year),
        "B" => MONTHS[m.month].to_owned(),
        "b" | "h" => MONTHS[m.month][..3].to_owned(),
        "A" => DAYS[m.weekday].to_owned(),
        "a" => DAYS[m.weekday][..3].to_owned(),
        "H" => format!("{:02}", m.hour),
        "I" => format!("{twelve:02}"),
        "p" => if m.hour < 12 { "AM" } else { "PM" }.to_owned(),
        "M" => format!("{:02}", m.minute),
        "S" => format!("{:02}", m.second),
        "F" => format!("{:04}-{:02}-{:02}", m.year, m.month + 1, m.day),
        "T" => format!("{:02}:{:02}:{:02}", m.hour, m.minute, m.second),
        "Z" => "UTC".to_owned(),
        "z" => "+0000".to_owned(),
        "%" => "%".to_owned(),
        _ => return None,
    })
}
