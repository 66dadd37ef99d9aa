; Items with a body, macros included.
(struct_item) @definition
(enum_item) @definition
(union_item) @definition
(trait_item) @definition
(impl_item) @definition
(mod_item) @definition
(function_item) @definition
(function_signature_item) @definition
(macro_definition) @definition
(type_item) @definition
