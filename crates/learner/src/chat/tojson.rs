//! The filter `tojson` as transformers defines it: Python's `json.dumps` without escaping beyond ASCII.

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, ErrorKind, Value};

/// How `json.dumps` was told to write.
struct Style {
    indent: Option<usize>,
    item: String,
    key: String,
    sort_keys: bool,
    ensure_ascii: bool,
}

/// `value | tojson(indent=None, separators=None, sort_keys=False, ensure_ascii=False)`.
pub(super) fn tojson(value: &Value, options: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = options.get("indent")?;
    let separators: Option<(String, String)> =
        options.get::<Option<Vec<String>>>("separators")?.map(pair).transpose()?;
    let item = if indent.is_some() { "," } else { ", " };
    let (item, key) = separators.unwrap_or_else(|| (item.to_owned(), ": ".to_owned()));
    let sort_keys = options.get::<Option<bool>>("sort_keys")?.unwrap_or(false);
    let ensure_ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    options.assert_all_used()?;
    let mut out = String::new();
    Style { indent, item, key, sort_keys, ensure_ascii }.write(&mut out, value, 0)?;
    Ok(out)
}

fn pair(list: Vec<String>) -> Result<(String, String), Error> {
    <[String; 2]>::try_from(list)
        .map(|[item, key]| (item, key))
        .map_err(|_| Error::new(ErrorKind::InvalidOperation, "tojson: want two separators"))
}

impl Style {
    fn write(&self, out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
        match value.kind() {
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => out.push_str(&number(value)),
            ValueKind::String => self.string(out, value.as_str().unwrap_or_default()),
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sort_keys {
                    keys.sort_by_key(ToString::to_string);
                }
                self.list(out, ['{', '}'], depth, keys, |out, key| {
                    self.string(out, &key.to_string());
                    out.push_str(&self.key);
                    self.write(out, &value.get_item(&key)?, depth + 1)
                })?;
            }
            ValueKind::Seq | ValueKind::Iterable => {
                let items = value.try_iter()?.collect();
                self.list(out, ['[', ']'], depth, items, |out, item| self.write(out, &item, depth + 1))?;
            }
            other => return Err(Error::new(ErrorKind::InvalidOperation, format!("tojson: {other} is not JSON"))),
        }
        Ok(())
    }

    fn list(
        &self,
        out: &mut String,
        [open, close]: [char; 2],
        depth: usize,
        items: Vec<Value>,
        mut write: impl FnMut(&mut String, Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        out.push(open);
        let any = !items.is_empty();
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                out.push_str(&self.item);
            }
            self.line(out, depth + 1);
            write(out, item)?;
        }
        if any {
            self.line(out, depth);
        }
        out.push(close);
        Ok(())
    }

    fn line(&self, out: &mut String, depth: usize) {
        if let Some(indent) = self.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    }

    fn string(&self, out: &mut String, text: &str) {
        let quoted = serde_json::to_string(text).unwrap_or_default();
        if !self.ensure_ascii {
            return out.push_str(&quoted);
        }
        for unit in quoted.encode_utf16() {
            match u8::try_from(unit).ok().filter(u8::is_ascii) {
                Some(ascii) => out.push(char::from(ascii)),
                None => out.push_str(&format!("\\u{unit:04x}")),
            }
        }
    }
}

/// A number as Python writes it: floats with a point or an exponent of two digits.
fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    let Ok(x) = f64::try_from(value.clone()) else { return value.to_string() };
    if !x.is_finite() {
        return if x.is_nan() {
            "NaN"
        } else if x > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned();
    }
    // Python switches to exponents below 1e-4 and from 1e16 on.
    if x != 0.0 && !(1e-4..1e16).contains(&x.abs()) {
        let text = format!("{x:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(("+", exponent), |e| ("-", e));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    format!("{x:?}")
}
