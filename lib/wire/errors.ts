import { array, enums, type Infer, literal, optional, string, type } from 'superstruct'
import { named, note } from './structs.ts'

export const ValidationErrorWire = named(
  'ValidationErrorWire',
  'One finding that makes a config invalid, as refusals carry it.',
  type({
    code: string(),
    message: string(),
    path: optional(string()),
    check_id: optional(string()),
  }),
)
export type ValidationErrorWire = Infer<typeof ValidationErrorWire>

export const ErrorBody = named(
  'ErrorBody',
  'The body of every refusal. Clients match on `code`, never on the text.',
  type({
    error: string(),
    code: optional(string()),
    feature: note("Only with `feature_disabled`: the gate's id.", optional(string())),
    validation_errors: optional(array(ValidationErrorWire)),
    side_effect_status: note(
      'Only when an audit sink failed: whether the change took effect.',
      optional(enums(['none', 'applied'])),
    ),
    fallback_format: note('Only with `pdf_unavailable`.', optional(literal('markdown'))),
  }),
)
export type ErrorBody = Infer<typeof ErrorBody>
