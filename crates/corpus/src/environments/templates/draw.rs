//! Draws tasks from an environment's templates.

use std::collections::BTreeMap;

use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};

use super::GeneratedTask;
use super::read::{Action, Piece, Question, Templates, Text};
use crate::random::weighted;

/// Between two actions, before a question, and before a question that is all.
const THEN: [&str; 2] = [", then ", ", and after that "];
const AND_TELL: [&str; 2] = [", and tell ", ", then answer "];
const TELL: [&str; 2] = ["tell ", "answer "];

/// What every solution may hold beside its templates' code.
const CODE_WORDS: [&str; 4] = ["answer(", "\nanswer(", ")\nanswer(", "))"];

/// Wrong codes of a task: more than it needs, as some do not work.
const CHANGES: usize = 9;
/// Draws for each before giving up.
const TRIES: usize = 8;

/// What each placeholder of a part stands for: an index into its pool's values.
type Bound = BTreeMap<String, usize>;

#[derive(Clone, Copy)]
enum Plan {
    Act,
    Ask,
    ActAsk,
    ActGive,
    ActAct,
    ActActAsk,
}

/// A part of a task: its code is whole lines.
struct Part<'a> {
    code: Vec<&'a Text>,
    answers: bool,
    bound: Bound,
}

impl Templates {
    /// Every piece of code that a task may hold.
    pub(super) fn code_pieces(&self) -> impl Iterator<Item = String> {
        let values = self.pools.values().flat_map(|pool| pool.values.iter().map(|(code, _)| code.clone()));
        literals(self.codes()).chain(values).chain(CODE_WORDS.map(str::to_owned))
    }

    /// Every piece of text that an instruction may hold.
    pub(super) fn word_pieces(&self) -> impl Iterator<Item = String> {
        let values = self.pools.values().flat_map(|pool| pool.values.iter().flat_map(|(_, say)| say.clone()));
        let joins = THEN.into_iter().chain(AND_TELL).chain(TELL).map(str::to_owned);
        literals(self.sayings()).chain(values).chain(joins)
    }

    pub(super) fn draw(&self, rng: &mut impl Rng) -> GeneratedTask {
        let plans = &self.plans;
        let weights = [
            (Plan::Act, plans.act),
            (Plan::Ask, plans.ask),
            (Plan::ActAsk, plans.act_ask),
            (Plan::ActGive, plans.act_give),
            (Plan::ActAct, plans.act_act),
            (Plan::ActActAsk, plans.act_act_ask),
        ];
        let (plan, _) = weighted(rng, &weights, |(_, weight)| *weight);
        let mut draft = Draft::new(self);
        match plan {
            Plan::Act => draft.act(rng),
            Plan::Ask => draft.ask(rng),
            Plan::ActAsk => {
                draft.act(rng);
                draft.ask(rng);
            }
            Plan::ActGive => draft.act_and_give(rng),
            Plan::ActAct => {
                draft.act(rng);
                draft.act(rng);
            }
            Plan::ActActAsk => {
                draft.act(rng);
                draft.act(rng);
                draft.ask(rng);
            }
        }
        draft.finish(rng)
    }

    fn value(&self, hole: &str, bound: &Bound) -> &(String, Vec<String>) {
        let pool = self.pool(hole).expect("read templates have a pool for each placeholder");
        &pool.values[bound[hole]]
    }

    fn code(&self, text: &Text, bound: &Bound) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(text) => text.clone(),
            Piece::Hole(hole) => self.value(hole, bound).0.clone(),
        };
        text.iter().map(piece).collect()
    }

    fn render_text(&self, text: &Text, bound: &Bound, rng: &mut impl Rng) -> String {
        let mut said = String::new();
        for piece in text {
            match piece {
                Piece::Literal(text) => said.push_str(text),
                Piece::Hole(hole) => {
                    let (_, ways) = self.value(hole, bound);
                    said.push_str(ways.choose(rng).expect("read templates can say each value"));
                }
            }
        }
        said
    }

    /// The lines of a part.
    fn lines(&self, part: &Part<'_>, bound: &Bound) -> Vec<String> {
        let code: String = part.code.iter().map(|text| self.code(text, bound)).collect();
        let code = if part.answers { format!("answer({code})") } else { code };
        code.lines().map(str::to_owned).collect()
    }
}

struct Draft<'a> {
    from: &'a Templates,
    said: String,
    names: Vec<String>,
    parts: Vec<Part<'a>>,
    /// Values of each kind that actions have: another action must not touch them.
    taken: Vec<(String, String)>,
}

impl<'a> Draft<'a> {
    const fn new(from: &'a Templates) -> Self {
        Self { from, said: String::new(), names: Vec::new(), parts: Vec::new(), taken: Vec::new() }
    }

    /// Values for the placeholders of texts: of one kind all different, and none of those that are taken, as far as there are enough.
    fn bind(&self, texts: &[&Text], fixed: &Bound, rng: &mut impl Rng) -> Bound {
        let mut bound = fixed.clone();
        let mut taken = self.taken.clone();
        for piece in texts.iter().copied().flatten() {
            let Piece::Hole(hole) = piece else { continue };
            if bound.contains_key(hole) {
                continue;
            }
            let pool = self.from.pool(hole).expect("read templates have a pool for each placeholder");
            let is_free = |index: &usize| {
                let kind = pool.kind.as_ref();
                kind.is_none_or(|kind| !taken.contains(&(kind.clone(), pool.values[*index].0.clone())))
            };
            let free: Vec<usize> = (0..pool.values.len()).filter(is_free).collect();
            let index = free.choose(rng).copied().unwrap_or_else(|| rng.random_range(0..pool.values.len()));
            taken.extend(pool.kind.clone().map(|kind| (kind, pool.values[index].0.clone())));
            bound.insert(hole.clone(), index);
        }
        bound
    }

    fn push(&mut self, name: &str, said: &str, part: Part<'a>) {
        self.names.push(name.to_owned());
        self.said.push_str(said);
        self.parts.push(part);
    }

    /// Adds an action.
    fn act(&mut self, rng: &mut impl Rng) {
        let known = |action: &&Action| !self.names.contains(&action.name);
        let actions: Vec<&'a Action> = self.from.actions.iter().filter(known).collect();
        let action = actions.choose(rng).expect("read templates have two actions");
        self.act_by(action, rng);
    }

    fn act_by(&mut self, action: &'a Action, rng: &mut impl Rng) {
        let say = action.say.choose(rng).expect("read templates can say each action");
        let bound = self.bind(&[&action.code, say], &Bound::new(), rng);
        for (hole, index) in &bound {
            let pool = self.from.pool(hole).expect("what is bound has a pool");
            self.taken.extend(pool.kind.clone().map(|kind| (kind, pool.values[*index].0.clone())));
        }
        let join = if self.parts.is_empty() { "" } else { *THEN.choose(rng).expect("there are joins") };
        let said = format!("{join}{}", self.from.render_text(say, &bound, rng));
        self.push(&action.name, &said, Part { code: vec![&action.code], answers: false, bound });
    }

    /// Adds a question, mostly about something that the last action touched where there is such a thing.
    fn ask(&mut self, rng: &mut impl Rng) {
        let questions: Vec<&'a Question> = self.from.questions.iter().collect();
        let related: Vec<(&'a Question, Bound)> =
            questions.iter().filter_map(|question| Some((*question, self.related(question)?))).collect();
        let (question, fixed) = match related.choose(rng) {
            Some((question, fixed)) if rng.random_bool(0.7) => (*question, fixed.clone()),
            _ => (*questions.choose(rng).expect("read templates have two questions"), Bound::new()),
        };
        let ways = if fixed.is_empty() || question.its.is_empty() || rng.random_bool(0.3) {
            &question.say
        } else {
            &question.its
        };
        let say = ways.choose(rng).expect("read templates can say each question");
        let free =
            Self { taken: Vec::new(), names: Vec::new(), parts: Vec::new(), said: String::new(), from: self.from };
        let bound = free.bind(&[&question.code, say], &fixed, rng);
        let joins = if self.parts.is_empty() { TELL } else { AND_TELL };
        let join = joins.choose(rng).expect("there are joins");
        let said = format!("{join}{}", self.from.render_text(say, &bound, rng));
        self.push(&question.name, &said, Part { code: vec![&question.code], answers: true, bound });
    }

    /// The binding by which a question is about a thing of the last action.
    fn related(&self, question: &Question) -> Option<Bound> {
        let last = self.parts.last()?;
        let hole = question.code.iter().find_map(|piece| match piece {
            Piece::Hole(hole) => self.from.pool(hole)?.kind.is_some().then_some(hole),
            Piece::Literal(_) => None,
        })?;
        let pool = self.from.pool(hole)?;
        let of_kind = |(other, index): (&String, &usize)| {
            let theirs = self.from.pool(other).filter(|theirs| theirs.kind == pool.kind)?;
            pool.values.iter().position(|(code, _)| *code == theirs.values[*index].0)
        };
        Some(Bound::from([(hole.clone(), last.bound.iter().find_map(of_kind)?)]))
    }

    /// Adds an action whose result is asked for.
    fn act_and_give(&mut self, rng: &mut impl Rng) {
        let giving: Vec<&'a Action> = self.from.actions.iter().filter(|action| !action.gives.is_empty()).collect();
        let Some(action) = giving.choose(rng) else {
            self.act(rng);
            return self.ask(rng);
        };
        self.act_by(action, rng);
        let give = action.gives.choose(rng).expect("it gives something");
        let say = give.say.choose(rng).expect("read templates can say each question");
        let last = self.parts.last_mut().expect("there is an action");
        last.code.push(&give.code);
        last.answers = true;
        let bound = last.bound.clone();
        self.said.push_str(AND_TELL.choose(rng).expect("there are joins"));
        let said = self.from.render_text(say, &bound, rng);
        self.said.push_str(&said);
        self.names.push(give.name.clone());
    }

    fn finish(self, rng: &mut impl Rng) -> GeneratedTask {
        let lines: Vec<Vec<String>> = self.parts.iter().map(|part| self.from.lines(part, &part.bound)).collect();
        let solution = lines.concat().join("\n");
        let mut changes: Vec<(usize, String)> = Vec::new();
        for _ in 0..CHANGES * TRIES {
            if changes.len() == CHANGES {
                break;
            }
            let change = self.change(&lines, rng);
            changes.extend(change.filter(|change| !changes.contains(change)));
        }
        changes.shuffle(rng);
        let (environment, parts, instruction) = (self.from.environment.clone(), self.names, self.said);
        GeneratedTask { environment, parts, instruction, solution, changes }
    }

    /// One line done otherwise: about something else, by another template, or not at all.
    fn change(&self, lines: &[Vec<String>], rng: &mut impl Rng) -> Option<(usize, String)> {
        let at = rng.random_range(0..self.parts.len());
        let (part, first) = (&self.parts[at], lines[..at].iter().map(Vec::len).sum::<usize>() + 1);
        match rng.random_range(0..4) {
            0 | 1 => {
                let holes: Vec<&String> = part.bound.keys().collect();
                let hole = (*holes.choose(rng)?).clone();
                let count = self.from.pool(&hole)?.values.len();
                let mut bound = part.bound.clone();
                bound.insert(hole, rng.random_range(0..count));
                let other = self.from.lines(part, &bound);
                let mut differing = (0..other.len()).filter(|line| lines[at].get(*line) != other.get(*line));
                match (differing.next(), differing.next()) {
                    (Some(line), None) => Some((first + line, other[line].clone())),
                    _ => None,
                }
            }
            2 if lines[at].len() == 1 => {
                let other = self.another(part, rng)?;
                (other.len() == 1 && other != lines[at]).then(|| (first, other[0].clone()))
            }
            3 if lines[at].len() == 1 && lines.concat().len() > 1 => Some((first, String::new())),
            _ => None,
        }
    }

    /// Another template of the same sort, about the same things where it can be.
    fn another(&self, part: &Part<'_>, rng: &mut impl Rng) -> Option<Vec<String>> {
        let code = if part.answers && part.code.len() == 1 {
            &self.from.questions.choose(rng)?.code
        } else {
            &self.from.actions.choose(rng)?.code
        };
        let bound = self.bind(&[code], &part.bound, rng);
        let answers = part.answers && part.code.len() == 1;
        Some(self.from.lines(&Part { code: vec![code], answers, bound: Bound::new() }, &bound))
    }
}

fn literals<'a>(texts: impl Iterator<Item = &'a Text>) -> impl Iterator<Item = String> {
    texts.flatten().filter_map(|piece| if let Piece::Literal(text) = piece { Some(text.clone()) } else { None })
}
