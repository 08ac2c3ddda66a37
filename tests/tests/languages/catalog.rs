//! What the files of a language say.

use std::collections::{BTreeMap, BTreeSet};

use fluent_syntax::{
    ast::{CallArguments, Entry, Expression, InlineExpression, Pattern, PatternElement},
    parser::parse,
};
use sluice::language::Language;

/// The variables of each text by its key.
pub type Texts = BTreeMap<String, BTreeSet<String>>;

/// The texts of a language. Fails where a file is not understood, and where a text is there twice or in the wrong file.
pub fn texts(language: &Language) -> Texts {
    let mut texts = Texts::new();
    for (file, source) in language.files() {
        let place = format!("{}/{file}.ftl", language.tag);
        let resource = parse(source.as_str()).unwrap_or_else(|(_, errors)| panic!("{place}: {errors:?}"));
        for entry in resource.body {
            let Entry::Message(message) = entry else { continue };
            let key = message.id.name;
            assert!(key.starts_with(&format!("{file}-")), "{place}: {key} does not begin with {file}-");
            let value = message.value.unwrap_or_else(|| panic!("{place}: {key} has no text"));
            let mut variables = BTreeSet::new();
            in_pattern(&value, &mut variables);
            assert!(texts.insert(key.to_owned(), variables).is_none(), "{place}: {key} is there twice");
        }
    }
    texts
}

fn in_pattern(pattern: &Pattern<&str>, variables: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        if let PatternElement::Placeable { expression } = element {
            in_expression(expression, variables);
        }
    }
}

fn in_expression(expression: &Expression<&str>, variables: &mut BTreeSet<String>) {
    match expression {
        Expression::Inline(inline) => in_inline(inline, variables),
        Expression::Select { selector, variants } => {
            in_inline(selector, variables);
            variants.iter().for_each(|variant| in_pattern(&variant.value, variables));
        }
    }
}

fn in_inline(inline: &InlineExpression<&str>, variables: &mut BTreeSet<String>) {
    match inline {
        InlineExpression::VariableReference { id } => drop(variables.insert(id.name.to_owned())),
        InlineExpression::Placeable { expression } => in_expression(expression, variables),
        InlineExpression::FunctionReference { arguments, .. } => in_arguments(arguments, variables),
        InlineExpression::TermReference { arguments: Some(arguments), .. } => {
            in_arguments(arguments, variables);
        }
        _ => {}
    }
}

fn in_arguments(arguments: &CallArguments<&str>, variables: &mut BTreeSet<String>) {
    arguments.positional.iter().for_each(|inline| in_inline(inline, variables));
    arguments.named.iter().for_each(|argument| in_inline(&argument.value, variables));
}
