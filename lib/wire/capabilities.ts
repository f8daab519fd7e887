import { array, boolean, enums, type Infer, literal, optional, string, type } from 'superstruct'
import { dictionary, named } from './structs.ts'

export const CapabilityState = named('CapabilityState', '', enums(['enabled', 'disabled', 'read_only']))
export type CapabilityState = Infer<typeof CapabilityState>

export const Capability = named(
  'Capability',
  'One thing the edition can or cannot do; `reason_code` is absent when enabled.',
  type({
    id: string(),
    state: CapabilityState,
    reason_code: optional(enums(['not_enabled', 'prerequisite_unavailable', 'read_only_mode'])),
  }),
)
export type Capability = Infer<typeof Capability>

export const CapabilityDocument = named(
  'CapabilityDocument',
  '`GET /api/v1/capabilities`.',
  type({
    api_version: literal('v1'),
    capabilities: array(Capability),
  }),
)
export type CapabilityDocument = Infer<typeof CapabilityDocument>

export const Features = named(
  'Features',
  '`GET /api/features`.',
  type({
    features: dictionary(boolean()),
  }),
)
export type Features = Infer<typeof Features>
