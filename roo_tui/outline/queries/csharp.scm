; Namespaces, types and their members with a body.
(namespace_declaration) @definition
(class_declaration) @definition
(interface_declaration) @definition
(struct_declaration) @definition
(record_declaration) @definition
(enum_declaration) @definition
(delegate_declaration) @definition
(constructor_declaration) @definition
(destructor_declaration) @definition
(method_declaration) @definition
(operator_declaration) @definition
(property_declaration) @definition
(indexer_declaration) @definition
(local_function_statement) @definition
