CREATE OR REPLACE FUNCTION memwarden_internal.pack_schema()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SECURITY INVOKER
AS $function$
SELECT '{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "description": {"type": "string", "maxLength": 2000},
    "promotion_thresholds": {
      "type": "object", "propertyNames": {"pattern": "^([*]|[a-z][a-z0-9_]{0,62})$"}, "maxProperties": 100,
      "additionalProperties": {
        "type": "object", "additionalProperties": false, "minProperties": 1,
        "properties": {
          "confidence": {"type": "number", "minimum": 0, "maximum": 1},
          "adjusted_confidence": {"type": "number", "minimum": 0, "maximum": 1},
          "min_evidence": {"type": "integer", "minimum": 0, "maximum": 100},
          "max_risk": {"type": "number", "minimum": 0, "maximum": 1},
          "no_contradiction": {"type": "boolean"}
        }
      }
    },
    "write_classes_allowed": {"type": "array", "maxItems": 100, "uniqueItems": true, "items": {"type": "string",
        "pattern": "^[a-z][a-z0-9_]{0,62}$"}},
    "redaction_rules": {
      "type": "array", "maxItems": 100,
      "items": {
        "type": "object", "additionalProperties": false, "required": ["rule", "kind", "pattern", "action", "tests"],
        "properties": {
          "rule": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_.-]{0,50}$"},
          "kind": {"type": "string", "pattern": "^[a-z][a-z0-9_]*([.][a-z0-9_]+){1,3}$"},
          "pattern": {"type": "string", "minLength": 1, "maxLength": 2000},
          "action": {"enum": ["flag", "review", "encrypt", "redact", "block"]},
          "tests": {
            "type": "object", "required": ["positive", "negative"], "additionalProperties": false,
            "properties": {"positive": {"$ref": "#/$defs/texts"}, "negative": {"$ref": "#/$defs/texts"}}
          }
        }
      }
    },
    "freshness": {
      "type": "object", "propertyNames": {"pattern": "^([*]|[a-z][a-z0-9_]{0,62})$"}, "maxProperties": 100,
      "additionalProperties": {"type": "string", "pattern": "^[1-9][0-9]{0,4} (minute|hour|day|week|month|year)s?$"}
    },
    "confidence_floors": {
      "type": "object", "propertyNames": {"pattern": "^([*]|[a-z][a-z0-9_]{0,62})$"}, "maxProperties": 100,
      "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}
    },
    "consent": {
      "type": "object", "propertyNames": {"pattern": "^[a-z][a-z0-9_]{0,62}$"}, "maxProperties": 100,
      "additionalProperties": {
        "type": "object", "additionalProperties": false, "required": ["purpose"],
        "properties": {"purpose": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,62}$"}, "missing": {"enum": ["refuse", "review"]}}
      }
    },
    "sample_audit": {
      "type": "object", "additionalProperties": false, "required": ["rate"],
      "properties": {
        "rate": {"type": "number", "minimum": 0, "maximum": 1},
        "max_failure_rate": {"type": "number", "minimum": 0, "maximum": 1},
        "min_sample": {"type": "integer", "minimum": 1, "maximum": 10000},
        "window": {"type": "integer", "minimum": 1, "maximum": 10000}
      }
    }
  },
  "$defs": {"texts": {"type": "array", "minItems": 1, "maxItems": 20, "items": {"type": "string", "minLength": 1, "maxLength": 1000}}}
}'::jsonb
$function$;
COMMENT ON FUNCTION memwarden_internal.pack_schema IS 'What a pack may say, as JSON Schema.';
