//! The optimizers in tensor operations, for weights that are on a device: the same formulas, moments on the device, no host in between.

use candle_core::{DType, Result, Tensor, Var};
use veriplay_kernels::muon::{QUINTIC, STEPS};
use veriplay_kernels::{adamw, muon};

use super::Rule;

/// One step on one weight; `moments` are the first and the second.
pub(super) fn step(weight: &Var, gradient: &Tensor, moments: &mut [Tensor; 2], rule: &Rule) -> Result<()> {
    let gradient = gradient.to_dtype(DType::F32)?;
    match rule {
        Rule::AdamW(constants) => adamw_step(weight, &gradient, moments, constants),
        Rule::Muon(constants, shape) => muon_step(weight, &gradient, &mut moments[0], constants, *shape),
    }
}

fn adamw_step(weight: &Var, gradient: &Tensor, moments: &mut [Tensor; 2], c: &adamw::Constants) -> Result<()> {
    let [first, second] = moments;
    let gradient = (gradient * f64::from(c.scale))?;
    *first = ((&*first * f64::from(c.beta1))? + (&gradient * f64::from(1.0 - c.beta1))?)?;
    *second = ((&*second * f64::from(c.beta2))? + (gradient.sqr()? * f64::from(1.0 - c.beta2))?)?;
    let below = second.sqrt()?.affine(f64::from(c.root), f64::from(c.eps))?;
    let change = ((&*first / below)? * f64::from(c.rate))?;
    weight.set(&((weight.as_detached_tensor() * f64::from(c.keep))? - change)?)
}

fn muon_step(
    weight: &Var,
    gradient: &Tensor,
    first: &mut Tensor,
    c: &muon::Constants,
    (rows, columns): (usize, usize),
) -> Result<()> {
    let gradient = (gradient * f64::from(c.scale))?;
    *first = ((&*first * c.momentum)? + &gradient)?;
    let ahead = (gradient + (&*first * c.momentum)?)?;
    let tall = rows > columns;
    let x = orthogonalised(if tall { ahead.t()?.contiguous()? } else { ahead })?;
    let x = if tall { x.t()?.contiguous()? } else { x };
    let rate = c.rate * (rows as f64 / columns as f64).max(1.0).sqrt();
    weight.set(&((weight.as_detached_tensor() * (1.0 - c.decay))? - (x * rate)?)?)
}

/// As `muon::orthogonalise`, of x [short, long].
fn orthogonalised(x: Tensor) -> Result<Tensor> {
    let [a, b, c] = QUINTIC.map(f64::from);
    let norm = (x.sqr()?.sum_all()?.sqrt()? + 1e-7)?;
    let mut x = x.broadcast_div(&norm)?;
    for _ in 0..STEPS {
        let gram = x.matmul(&x.t()?)?;
        let polynomial = ((&gram * b)? + (gram.matmul(&gram)? * c)?)?;
        x = ((&x * a)? + polynomial.matmul(&x)?)?;
    }
    Ok(x)
}
