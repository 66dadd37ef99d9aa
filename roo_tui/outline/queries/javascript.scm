; Classes, functions, methods, functions given a name, exported objects, and the blocks of test files.
(class_declaration) @definition
(function_declaration) @definition
(generator_function_declaration) @definition
(method_definition) @definition
(lexical_declaration (variable_declarator value: [(arrow_function) (function_expression) (class)])) @definition
(variable_declaration (variable_declarator value: [(arrow_function) (function_expression) (class)])) @definition
(field_definition value: [(arrow_function) (function_expression)]) @definition
(expression_statement (assignment_expression right: [(arrow_function) (function_expression) (class)])) @definition
(expression_statement (assignment_expression left: (member_expression) @left right: (object))
  (#match? @left "^(module\\.)?exports")) @definition
(export_statement value: (object)) @definition
(expression_statement
  (call_expression function: (identifier) @call)
  (#any-of? @call "describe" "suite" "test" "it" "beforeEach" "afterEach" "beforeAll" "afterAll")) @definition
