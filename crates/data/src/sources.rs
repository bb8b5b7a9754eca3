//! One file per data set: from files on disk to labels and pixels.

pub(crate) mod cifar;
pub(crate) mod core50;
pub(crate) mod embedded;
pub(crate) mod fashion_mnist;
pub(crate) mod folder;
pub(crate) mod food100;
pub(crate) mod mini_imagenet;
pub(crate) mod places100;
pub(crate) mod tiny_imagenet;
