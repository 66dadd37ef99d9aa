; What JavaScript has, and types, enumerations, namespaces and abstract members.
(class_declaration) @definition
(abstract_class_declaration) @definition
(interface_declaration) @definition
(type_alias_declaration) @definition
(enum_declaration) @definition
(internal_module) @definition
(module) @definition
(function_declaration) @definition
(generator_function_declaration) @definition
(function_signature) @definition
(method_definition) @definition
(method_signature) @definition
(abstract_method_signature) @definition
(lexical_declaration (variable_declarator value: [(arrow_function) (function_expression) (class)])) @definition
(variable_declaration (variable_declarator value: [(arrow_function) (function_expression) (class)])) @definition
(public_field_definition value: [(arrow_function) (function_expression)]) @definition
(export_statement value: (object)) @definition
(expression_statement
  (call_expression function: (identifier) @call)
  (#any-of? @call "describe" "suite" "test" "it" "beforeEach" "afterEach" "beforeAll" "afterAll")) @definition
