//! The weights of `EfficientNet`-lite0 (75 % top-1 on `ImageNet`) without its 1000-class head, as
//! data.
//!
//! `README.md` says where they come from and under which licence; `make.py` made the file from the
//! original, which it checks by its SHA-256.

#![forbid(unsafe_code)]

/// A safetensors file: norms folded into the convolutions, weights in float16, biases in float32.
pub static WEIGHTS: &[u8] = include_bytes!("../efficientnet-lite0.safetensors");
