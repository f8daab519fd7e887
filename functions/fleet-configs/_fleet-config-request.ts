import { PRIORITY_MAX } from '../../lib/model/priorities.ts'
import { type Refusal, refuse } from '../../lib/model/refusal.ts'
import { isStorableLine } from '../../lib/model/storable.ts'
import {
  FLEET_CONFIG_RULES,
  readSelector,
  SELECTOR_ERRORS,
  type SelectorRefusal,
} from '../../lib/selectors/read-selector.ts'
import type { Selector } from '../../lib/wire/selectors.ts'

const NAME_LENGTH_MAX = 128
const DESCRIPTION_LENGTH_MAX = 1_024

/** Whether a number can be a priority. */
export const isPriority = (priority: number): boolean =>
  Number.isInteger(priority) && Math.abs(priority) <= PRIORITY_MAX

const OWN_ERRORS = [
  'description-too-long',
  'name-required',
  'name-too-long',
  'priority-invalid',
  'text-not-storable',
] as const

/** What a fleet config can be refused for. */
export const FLEET_CONFIG_ERRORS = [...OWN_ERRORS, ...SELECTOR_ERRORS] as const
type FleetConfigRefusal = SelectorRefusal | Refusal<(typeof OWN_ERRORS)[number]>

/** The fields of a fleet config that clients send. */
export interface FleetConfigFields {
  name: string
  description: string
  selector: Selector
  priority: number
}

/** Check what was sent of a fleet config. */
export function readFleetConfig(
  body: FleetConfigFields,
): { ok: true; fields: FleetConfigFields } | FleetConfigRefusal {
  const name = body.name.trim()
  const description = body.description.trim()
  if (name === '') return refuse('name-required')
  if (name.length > NAME_LENGTH_MAX) return refuse('name-too-long', { max: NAME_LENGTH_MAX })
  if (description.length > DESCRIPTION_LENGTH_MAX)
    return refuse('description-too-long', { max: DESCRIPTION_LENGTH_MAX })
  for (const [field, text] of Object.entries({ name, description }))
    if (!isStorableLine(text)) return refuse('text-not-storable', { field })
  if (!isPriority(body.priority)) return refuse('priority-invalid', { max: PRIORITY_MAX })
  const read = readSelector(body.selector, FLEET_CONFIG_RULES)
  return read.ok
    ? { ok: true, fields: { name, description, selector: read.selector, priority: body.priority } }
    : read
}
