//! Draws tasks from an environment's templates.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};

use super::read::{ActionTemplate, EnvironmentTemplates, QuestionTemplate, TemplateText, TextPiece};
use super::{GeneratedTask, TemplateTrial};
use crate::random::draw_weighted;

/// Between two actions, before a question, and before a question that is all.
const THEN: [&str; 2] = [", then ", ", and after that "];
const AND_TELL: [&str; 2] = [", and tell ", ", then answer "];
const TELL: [&str; 2] = ["tell ", "answer "];

/// Code that a solution may have in addition to that of its templates.
const CODE_WORDS: [&str; 4] = ["answer(", "\nanswer(", ")\nanswer(", "))"];

/// Number of changes of a task: more than it needs, because some do not work.
const CHANGES: usize = 9;
/// Draws for each before giving up.
const TRIES: usize = 8;

/// For each placeholder of a part, the index of its value in the pool.
type Binding = BTreeMap<String, usize>;

/// What a task asks behind its actions.
#[derive(Clone, Copy)]
enum TaskEnd {
    Nothing,
    Question,
    /// The result of the last action.
    Result,
}

/// A part of a task: its code is whole lines.
struct TaskPart<'a> {
    code: Vec<&'a TemplateText>,
    answers: bool,
    bound: Binding,
}

impl EnvironmentTemplates {
    /// Every piece of code that a task may hold.
    pub(super) fn code_pieces(&self) -> impl Iterator<Item = String> {
        let values = self.pools.values().flat_map(|pool| pool.values.iter().map(|(code, _)| code.clone()));
        literal_texts(self.codes()).chain(values).chain(CODE_WORDS.map(str::to_owned))
    }

    /// Every piece of text that an instruction may hold.
    pub(super) fn word_pieces(&self) -> impl Iterator<Item = String> {
        let values = self.pools.values().flat_map(|pool| pool.values.iter().flat_map(|(_, say)| say.clone()));
        let joins = THEN.into_iter().chain(AND_TELL).chain(TELL).map(str::to_owned);
        literal_texts(self.sayings()).chain(values).chain(joins)
    }

    pub(super) fn draw(&self, rng: &mut impl Rng) -> GeneratedTask {
        let plans = &self.plans;
        // How many actions, and what is asked behind them.
        let weights = [
            (1, TaskEnd::Nothing, plans.act),
            (0, TaskEnd::Question, plans.ask),
            (1, TaskEnd::Question, plans.act_ask),
            (0, TaskEnd::Result, plans.act_give),
            (2, TaskEnd::Nothing, plans.act_act),
            (2, TaskEnd::Question, plans.act_act_ask),
        ];
        let (actions, end, _) = draw_weighted(rng, &weights, |(.., weight)| *weight);
        let mut draft = TaskDraft::new(self);
        (0..*actions).for_each(|_| draft.add_action(rng));
        match end {
            TaskEnd::Nothing => {}
            TaskEnd::Question => draft.add_question(rng),
            TaskEnd::Result => draft.add_action_with_answer(rng),
        }
        draft.finish(rng)
    }

    /// `count` solutions by each template alone, with its name: what has to work before tasks of several do.
    pub(in crate::environments) fn draw_trials(&self, count: usize, rng: &mut impl Rng) -> Vec<TemplateTrial> {
        let mut trials = Vec::new();
        for action in &self.actions {
            trials.push(self.draw_trial(&action.name, count, |draft| draft.add_chosen_action(action, rng)));
            for give in &action.gives {
                let name = format!("{} and {}", action.name, give.name);
                trials.push(self.draw_trial(&name, count, |draft| {
                    draft.add_chosen_action(action, rng);
                    draft.add_given(give, rng);
                }));
            }
        }
        for question in &self.questions {
            let name = &question.name;
            trials
                .push(self.draw_trial(name, count, |draft| draft.add_chosen_question(question, &Binding::new(), rng)));
        }
        trials
    }

    fn draw_trial<'a>(&'a self, name: &str, count: usize, mut add: impl FnMut(&mut TaskDraft<'a>)) -> TemplateTrial {
        let mut solutions = BTreeSet::new();
        for _ in 0..count {
            let mut draft = TaskDraft::new(self);
            add(&mut draft);
            solutions.insert(draft.lines().concat().join("\n"));
        }
        TemplateTrial { template: name.to_owned(), solutions: solutions.into_iter().collect() }
    }

    fn placeholder_value(&self, hole: &str, bound: &Binding) -> &(String, Vec<String>) {
        let pool = self.pool(hole).expect("read templates have a pool for each placeholder");
        &pool.values[bound[hole]]
    }

    fn render_code(&self, text: &TemplateText, bound: &Binding) -> String {
        let piece = |piece: &TextPiece| match piece {
            TextPiece::Literal(text) => text.clone(),
            TextPiece::Placeholder(hole) => self.placeholder_value(hole, bound).0.clone(),
        };
        text.iter().map(piece).collect()
    }

    fn render_text(&self, text: &TemplateText, bound: &Binding, rng: &mut impl Rng) -> String {
        let mut words = String::new();
        for piece in text {
            match piece {
                TextPiece::Literal(text) => words.push_str(text),
                TextPiece::Placeholder(hole) => {
                    let (_, ways) = self.placeholder_value(hole, bound);
                    words.push_str(ways.choose(rng).expect("read templates can say each value"));
                }
            }
        }
        words
    }

    fn render_lines(&self, part: &TaskPart<'_>, bound: &Binding) -> Vec<String> {
        let code: String = part.code.iter().map(|text| self.render_code(text, bound)).collect();
        let code = if part.answers { format!("answer({code})") } else { code };
        code.lines().map(str::to_owned).collect()
    }
}

struct TaskDraft<'a> {
    templates: &'a EnvironmentTemplates,
    instruction: String,
    names: Vec<String>,
    parts: Vec<TaskPart<'a>>,
    /// Kinds and values that actions use: other actions must use others.
    taken: Vec<(String, String)>,
}

impl<'a> TaskDraft<'a> {
    const fn new(templates: &'a EnvironmentTemplates) -> Self {
        Self { templates, instruction: String::new(), names: Vec::new(), parts: Vec::new(), taken: Vec::new() }
    }

    /// Draws values for the placeholders of texts: distinct ones of each kind that are not taken, as long as there are enough.
    fn draw_binding(&self, texts: &[&TemplateText], fixed: &Binding, rng: &mut impl Rng) -> Binding {
        let mut bound = fixed.clone();
        let mut taken = self.taken.clone();
        for piece in texts.iter().copied().flatten() {
            let TextPiece::Placeholder(hole) = piece else { continue };
            if bound.contains_key(hole) {
                continue;
            }
            let pool = self.templates.pool(hole).expect("read templates have a pool for each placeholder");
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

    fn push(&mut self, name: &str, words: &str, part: TaskPart<'a>) {
        self.names.push(name.to_owned());
        self.instruction.push_str(words);
        self.parts.push(part);
    }

    fn add_action(&mut self, rng: &mut impl Rng) {
        let known = |action: &&ActionTemplate| !self.names.contains(&action.name);
        let actions: Vec<&'a ActionTemplate> = self.templates.actions.iter().filter(known).collect();
        let action = actions.choose(rng).expect("read templates have two actions");
        self.add_chosen_action(action, rng);
    }

    fn add_chosen_action(&mut self, action: &'a ActionTemplate, rng: &mut impl Rng) {
        let say = action.say.choose(rng).expect("read templates can say each action");
        let bound = self.draw_binding(&[&action.code, say], &Binding::new(), rng);
        for (hole, index) in &bound {
            let pool = self.templates.pool(hole).expect("what is bound has a pool");
            self.taken.extend(pool.kind.clone().map(|kind| (kind, pool.values[*index].0.clone())));
        }
        let join = if self.parts.is_empty() { "" } else { *THEN.choose(rng).expect("there are joins") };
        let words = format!("{join}{}", self.templates.render_text(say, &bound, rng));
        self.push(&action.name, &words, TaskPart { code: vec![&action.code], answers: false, bound });
    }

    /// Adds a question, mostly about a value of the last action where they share a kind.
    fn add_question(&mut self, rng: &mut impl Rng) {
        let questions: Vec<&'a QuestionTemplate> = self.templates.questions.iter().collect();
        let related: Vec<(&'a QuestionTemplate, Binding)> =
            questions.iter().filter_map(|question| Some((*question, self.bind_to_last_action(question)?))).collect();
        let (question, fixed) = match related.choose(rng) {
            Some((question, fixed)) if rng.random_bool(0.7) => (*question, fixed.clone()),
            _ => (*questions.choose(rng).expect("read templates have two questions"), Binding::new()),
        };
        self.add_chosen_question(question, &fixed, rng);
    }

    fn add_chosen_question(&mut self, question: &'a QuestionTemplate, fixed: &Binding, rng: &mut impl Rng) {
        let ways = if fixed.is_empty() || question.its.is_empty() || rng.random_bool(0.3) {
            &question.say
        } else {
            &question.its
        };
        let say = ways.choose(rng).expect("read templates can say each question");
        let bound = Self::new(self.templates).draw_binding(&[&question.code, say], fixed, rng);
        let joins = if self.parts.is_empty() { TELL } else { AND_TELL };
        let join = joins.choose(rng).expect("there are joins");
        let words = format!("{join}{}", self.templates.render_text(say, &bound, rng));
        self.push(&question.name, &words, TaskPart { code: vec![&question.code], answers: true, bound });
    }

    /// Binds a question to a value of the last action.
    fn bind_to_last_action(&self, question: &QuestionTemplate) -> Option<Binding> {
        let last = self.parts.last()?;
        let hole = question.code.iter().find_map(|piece| match piece {
            TextPiece::Placeholder(hole) => self.templates.pool(hole)?.kind.is_some().then_some(hole),
            TextPiece::Literal(_) => None,
        })?;
        let pool = self.templates.pool(hole)?;
        let of_kind = |(other, index): (&String, &usize)| {
            let theirs = self.templates.pool(other).filter(|theirs| theirs.kind == pool.kind)?;
            pool.values.iter().position(|(code, _)| *code == theirs.values[*index].0)
        };
        Some(Binding::from([(hole.clone(), last.bound.iter().find_map(of_kind)?)]))
    }

    /// Adds an action whose result is the answer.
    fn add_action_with_answer(&mut self, rng: &mut impl Rng) {
        let giving: Vec<&'a ActionTemplate> =
            self.templates.actions.iter().filter(|action| !action.gives.is_empty()).collect();
        let Some(action) = giving.choose(rng) else {
            self.add_action(rng);
            return self.add_question(rng);
        };
        self.add_chosen_action(action, rng);
        self.add_given(action.gives.choose(rng).expect("it gives something"), rng);
    }

    /// Asks for a result of the last action.
    fn add_given(&mut self, give: &'a QuestionTemplate, rng: &mut impl Rng) {
        let say = give.say.choose(rng).expect("read templates can say each question");
        let last = self.parts.last_mut().expect("there is an action");
        last.code.push(&give.code);
        last.answers = true;
        let bound = last.bound.clone();
        self.instruction.push_str(AND_TELL.choose(rng).expect("there are joins"));
        let words = self.templates.render_text(say, &bound, rng);
        self.instruction.push_str(&words);
        self.names.push(give.name.clone());
    }

    fn lines(&self) -> Vec<Vec<String>> {
        self.parts.iter().map(|part| self.templates.render_lines(part, &part.bound)).collect()
    }

    fn finish(self, rng: &mut impl Rng) -> GeneratedTask {
        let lines = self.lines();
        let solution = lines.concat().join("\n");
        let mut changes: Vec<(usize, String)> = Vec::new();
        for _ in 0..CHANGES * TRIES {
            if changes.len() == CHANGES {
                break;
            }
            let change = self.draw_change(&lines, rng);
            changes.extend(change.filter(|change| !changes.contains(change)));
        }
        changes.shuffle(rng);
        let (environment, parts, instruction) = (self.templates.environment.clone(), self.names, self.instruction);
        GeneratedTask { environment, parts, instruction, solution, changes }
    }

    /// Draws a change of one line: another value, another template, or no line.
    fn draw_change(&self, lines: &[Vec<String>], rng: &mut impl Rng) -> Option<(usize, String)> {
        let at = rng.random_range(0..self.parts.len());
        let (part, first) = (&self.parts[at], lines[..at].iter().map(Vec::len).sum::<usize>() + 1);
        match rng.random_range(0..4) {
            0 | 1 => {
                let holes: Vec<&String> = part.bound.keys().collect();
                let hole = (*holes.choose(rng)?).clone();
                let count = self.templates.pool(&hole)?.values.len();
                let mut bound = part.bound.clone();
                bound.insert(hole, rng.random_range(0..count));
                let other = self.templates.render_lines(part, &bound);
                let mut differing = (0..other.len()).filter(|line| lines[at].get(*line) != other.get(*line));
                match (differing.next(), differing.next()) {
                    (Some(line), None) => Some((first + line, other[line].clone())),
                    _ => None,
                }
            }
            2 if lines[at].len() == 1 => {
                let other = self.draw_alternative(part, rng)?;
                (other.len() == 1 && other != lines[at]).then(|| (first, other[0].clone()))
            }
            3 if lines[at].len() == 1 && lines.concat().len() > 1 => Some((first, String::new())),
            _ => None,
        }
    }

    /// Draws another template of the same kind, with the same values where possible.
    fn draw_alternative(&self, part: &TaskPart<'_>, rng: &mut impl Rng) -> Option<Vec<String>> {
        let code = if part.answers && part.code.len() == 1 {
            &self.templates.questions.choose(rng)?.code
        } else {
            &self.templates.actions.choose(rng)?.code
        };
        let bound = self.draw_binding(&[code], &part.bound, rng);
        let answers = part.answers && part.code.len() == 1;
        Some(self.templates.render_lines(&TaskPart { code: vec![code], answers, bound: Binding::new() }, &bound))
    }
}

fn literal_texts<'a>(texts: impl Iterator<Item = &'a TemplateText>) -> impl Iterator<Item = String> {
    texts.flatten().filter_map(|piece| if let TextPiece::Literal(text) = piece { Some(text.clone()) } else { None })
}
