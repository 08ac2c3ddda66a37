//! vae
