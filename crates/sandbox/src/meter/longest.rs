//! Charges by an upper bound: no more is executed than was paid for.
//!
//! Outside its loops, code goes forward only. So, going from a function's end to its beginning, the longest path from each instruction to the end of its
//! stretch is known when its turn comes. A stretch's head is charged for it. Where paths part whose lengths differ by more than [`ARM`], the shorter
//! one is paid for before, and the rest where the longer one begins: code that is seldom executed is not paid for by all the others.
//!
//! A path that leaves a loop goes on in the stretch around it; the loop's own turns are charged at its head. An exception may come from any call.

use wasmparser::{BlockType, Catch, Operator};

use super::stretches::{Charge, Charges, Cost, Stretch, leaves_function};

/// Units that paths may differ by and still be charged alike: several times what a charge takes itself.
const ARM: f64 = 48.0;

/// What an instruction does to the path.
enum Step {
    Forward,
    /// A block, and whether branches to its end carry values.
    Block {
        carries: bool,
    },
    Loop,
    If {
        carries: bool,
    },
    /// The depths that exceptions in it go to, counted from outside of it.
    Try(Vec<u32>),
    Else,
    End,
    Branch(u32),
    /// A branch that may be taken, and whether another operator can stand in its place.
    BranchIf {
        depth: u32,
        is_plain: bool,
    },
    Table(Vec<u32>),
    Leave,
    /// A call, or what raises an exception itself.
    Call {
        returns: bool,
    },
}

struct PricedStep {
    step: Step,
    cost: Cost,
    /// The stretch it lies in.
    stretch: usize,
}

/// The instructions of a function, in their order.
pub(super) struct LongestPath {
    steps: Vec<PricedStep>,
    stretches: Vec<Stretch>,
    /// The stretches around, of each open block.
    around: Vec<usize>,
    stretch: usize,
}

impl LongestPath {
    pub(super) fn new() -> Self {
        Self { steps: Vec::new(), stretches: vec![Stretch::default()], around: vec![0], stretch: 0 }
    }

    /// One instruction, and what it costs executed once.
    pub(super) fn step(&mut self, operator: &Operator<'_>, cost: Cost) {
        let stretch = &mut self.stretches[self.stretch];
        stretch.length += 1;
        stretch.cost.add(cost, 1.0);
        stretch.addresses.step(operator, 1.0);
        let step = step_of(operator);
        let inside = self.stretch;
        match step {
            Step::Loop => {
                self.around.push(self.stretch);
                self.stretch = self.stretches.len();
                self.stretches.push(Stretch::default());
            }
            Step::Block { .. } | Step::If { .. } | Step::Try(_) => self.around.push(self.stretch),
            Step::End => self.stretch = self.around.pop().unwrap_or_default(),
            _ => {}
        }
        self.steps.push(PricedStep { step, cost, stretch: inside });
    }

    pub(super) fn charges(self) -> Charges {
        let waits = self.stretches.iter().map(Stretch::wait_of_access).collect();
        let mut way = WayBack { waits, ..WayBack::default() };
        let opened = openers(&self.steps);
        for (place, step) in self.steps.iter().enumerate().rev() {
            way.step(place, step, opened[place].map(|opener| &self.steps[opener].step));
        }
        // Those of a longer `else` came late.
        way.behind.sort_unstable_by_key(|charge| charge.place);
        way.taken.reverse();
        Charges { entry: units(way.rest + 1.0), behind: way.behind, taken: way.taken }
    }
}

/// For the end of each block, the place of its beginning.
fn openers(steps: &[PricedStep]) -> Vec<Option<usize>> {
    let mut open = Vec::new();
    let opener = |(place, step): (usize, &PricedStep)| match step.step {
        Step::Block { .. } | Step::Loop | Step::If { .. } | Step::Try(_) => {
            open.push(place);
            None
        }
        Step::End => open.pop(),
        _ => None,
    };
    steps.iter().enumerate().map(opener).collect()
}

/// A block whose end was met, and whose beginning comes.
struct OpenBlock {
    is_loop: bool,
    carries: bool,
    /// The longest path from its end on. Of a loop, from where paths leave it on, in the stretch around.
    after: f64,
    /// The place of its `else`, and the path from there on.
    otherwise: Option<(usize, f64)>,
    catches: Vec<u32>,
}

/// Goes over the instructions of a function, from the last to the first.
#[derive(Default)]
struct WayBack {
    /// What an access waits for memory, by stretch.
    waits: Vec<f64>,
    blocks: Vec<OpenBlock>,
    /// Which of these are loops, and which catch exceptions.
    loops: Vec<usize>,
    tries: Vec<usize>,
    /// The longest path from here to the end of the stretch, of what is not charged on the way.
    rest: f64,
    behind: Vec<Charge>,
    taken: Vec<Charge>,
}

impl WayBack {
    fn step(&mut self, place: usize, priced: &PricedStep, opener: Option<&Step>) {
        match &priced.step {
            Step::Forward => {}
            Step::End => self.enter_end(opener),
            Step::Block { .. } => {
                self.blocks.pop();
            }
            Step::Try(_) => {
                self.blocks.pop();
                self.tries.pop();
            }
            Step::Loop => self.leave_loop(place),
            Step::Else => {
                if let Some(block) = self.blocks.last_mut() {
                    block.otherwise = Some((place, self.rest));
                    self.rest = block.after;
                }
            }
            Step::If { .. } => self.leave_if(place),
            Step::Branch(depth) => self.rest = self.branch(*depth),
            Step::BranchIf { depth, is_plain } => self.branch_if(place, *depth, *is_plain),
            Step::Table(depths) => self.rest = depths.iter().map(|depth| self.branch(*depth)).fold(0.0, f64::max),
            Step::Leave => self.rest = 0.0,
            Step::Call { returns } => {
                let returned = if *returns { self.rest } else { 0.0 };
                self.rest = returned.max(self.caught());
            }
        }
        self.rest += priced.cost.with_waits(self.waits[priced.stretch]);
    }

    fn enter_end(&mut self, opener: Option<&Step>) {
        let (is_loop, carries, catches) = match opener {
            Some(Step::Loop) => (true, true, Vec::new()),
            Some(Step::Block { carries } | Step::If { carries }) => (false, *carries, Vec::new()),
            Some(Step::Try(catches)) => (false, true, catches.clone()),
            // The function's own.
            _ => (false, true, Vec::new()),
        };
        let block = OpenBlock { is_loop, carries, after: self.rest, otherwise: None, catches };
        if is_loop {
            self.loops.push(self.blocks.len());
            self.rest = 0.0;
        }
        if matches!(opener, Some(Step::Try(_))) {
            self.tries.push(self.blocks.len());
        }
        self.blocks.push(block);
    }

    fn leave_loop(&mut self, place: usize) {
        self.behind.push(Charge { place, units: units(self.rest) });
        self.loops.pop();
        self.rest = self.blocks.pop().map_or(0.0, |block| block.after);
    }

    fn leave_if(&mut self, place: usize) {
        let Some(OpenBlock { after, otherwise, .. }) = self.blocks.pop() else { return };
        let (then, other) = (self.rest, otherwise.map_or(after, |(_, rest)| rest));
        self.rest = match otherwise {
            _ if then > other + ARM => {
                self.behind.push(Charge { place, units: units(then - other) });
                other
            }
            Some((place, _)) if other > then + ARM => {
                self.behind.push(Charge { place, units: units(other - then) });
                then
            }
            _ => then.max(other),
        };
    }

    fn branch_if(&mut self, place: usize, depth: u32, is_plain: bool) {
        let (taken, forward) = (self.branch(depth), self.rest);
        let carries = self.index(depth).is_none_or(|index| self.blocks[index].carries);
        self.rest = if forward > taken + ARM {
            self.behind.push(Charge { place, units: units(forward - taken) });
            taken
        } else if taken > forward + ARM && is_plain && !carries {
            self.taken.push(Charge { place, units: units(taken - forward) });
            forward
        } else {
            forward.max(taken)
        };
    }

    fn index(&self, depth: u32) -> Option<usize> {
        self.blocks.len().checked_sub(1 + depth as usize)
    }

    /// The longest path from where a branch goes on, in the stretch where it stands.
    fn branch(&mut self, depth: u32) -> f64 {
        self.index(depth).map_or(0.0, |index| self.go_to(index))
    }

    /// One to a loop's head begins another turn, which is charged there. One that leaves loops is paid for before the outermost of them.
    fn go_to(&mut self, index: usize) -> f64 {
        let after = self.blocks[index].after;
        if self.blocks[index].is_loop {
            return 0.0;
        }
        // Not block by block: a branch is a byte or two of a module, and there can be thousands of blocks around it.
        let first = self.loops.partition_point(|place| *place <= index);
        let Some(&outermost) = self.loops.get(first) else { return after };
        let left = &mut self.blocks[outermost];
        left.after = left.after.max(after);
        0.0
    }

    /// The longest path from where an exception goes on that comes from here.
    fn caught(&mut self) -> f64 {
        let mut longest = 0.0_f64;
        for block in self.tries.clone() {
            for depth in self.blocks[block].catches.clone() {
                if let Some(index) = block.checked_sub(1 + depth as usize) {
                    longest = longest.max(self.go_to(index));
                }
            }
        }
        longest
    }
}

/// At least one, so that nothing is free.
fn units(cost: f64) -> u32 {
    (cost.ceil() as u32).max(1)
}

fn step_of(operator: &Operator<'_>) -> Step {
    match operator {
        Operator::Block { blockty } => Step::Block { carries: *blockty != BlockType::Empty },
        Operator::If { blockty } => Step::If { carries: *blockty != BlockType::Empty },
        Operator::Loop { .. } => Step::Loop,
        Operator::TryTable { try_table } => Step::Try(try_table.catches.iter().map(target).collect()),
        Operator::Else => Step::Else,
        Operator::End => Step::End,
        Operator::Br { relative_depth } => Step::Branch(*relative_depth),
        Operator::BrIf { relative_depth } => Step::BranchIf { depth: *relative_depth, is_plain: true },
        Operator::BrOnNull { relative_depth }
        | Operator::BrOnNonNull { relative_depth }
        | Operator::BrOnCast { relative_depth, .. }
        | Operator::BrOnCastFail { relative_depth, .. } => Step::BranchIf { depth: *relative_depth, is_plain: false },
        Operator::BrTable { targets } => {
            Step::Table(targets.targets().filter_map(Result::ok).chain([targets.default()]).collect())
        }
        Operator::Call { .. } | Operator::CallIndirect { .. } | Operator::CallRef { .. } => {
            Step::Call { returns: true }
        }
        Operator::Throw { .. } | Operator::ThrowRef => Step::Call { returns: false },
        other if leaves_function(other) => Step::Leave,
        _ => Step::Forward,
    }
}

/// The depth that an exception goes to.
const fn target(catch: &Catch) -> u32 {
    match catch {
        Catch::One { label, .. } | Catch::OneRef { label, .. } | Catch::All { label } | Catch::AllRef { label } => {
            *label
        }
    }
}
