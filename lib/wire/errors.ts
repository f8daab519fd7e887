/** One finding that makes a config invalid, as refusals carry it. */
export interface ValidationErrorWire {
  code: string
  message: string
  path?: string
  check_id?: string
}

/** The body of every refusal. Clients match on `code`, never on the text. */
export interface ErrorBody {
  error: string
  code?: string
  /** Only with `feature_disabled`: the gate's id. */
  feature?: string
  validation_errors?: ValidationErrorWire[]
  /** Only when an audit sink failed: whether the change took effect. */
  side_effect_status?: 'none' | 'applied'
  /** Only with `pdf_unavailable`. */
  fallback_format?: 'markdown'
}
