; Rules and the blocks that group them.
(rule_set) @definition
(media_statement) @definition
(supports_statement) @definition
(keyframes_statement) @definition
(at_rule) @definition
