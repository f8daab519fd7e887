import { type Refusal, refuse } from '../../lib/model/refusal.ts'
import { isStorableLine } from '../../lib/model/storable.ts'
import {
  PUSH_GROUP_RULES,
  readSelector,
  SELECTOR_ERRORS,
  type SelectorRefusal,
} from '../../lib/selectors/read-selector.ts'
import type { StoredPushGroup } from '../../lib/store/push-groups.ts'
import type { PushGroup } from '../../lib/wire/pushes.ts'
import type { Selector } from '../../lib/wire/selectors.ts'

const ID = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const NAME_LENGTH_MAX = 128
const DESCRIPTION_LENGTH_MAX = 1_024

/** `Production EU` as an id: `production-eu`. */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-|-$/g, '')

const TEXT_ERRORS = [
  'description-too-long',
  'name-required',
  'name-too-long',
  'push-group-id-invalid',
  'push-group-text-invalid',
] as const

/** What a push group can be refused for. */
export const PUSH_GROUP_ERRORS = [...TEXT_ERRORS, ...SELECTOR_ERRORS] as const
type PushGroupRefusal = SelectorRefusal | Refusal<(typeof TEXT_ERRORS)[number]>

/** Check what was sent; without an id one is made from the name. */
export function readPushGroup(body: {
  id: string
  name: string
  description: string
  selector: Selector
}): { ok: true; group: StoredPushGroup } | PushGroupRefusal {
  const name = body.name.trim()
  const description = body.description.trim()
  const id = body.id.trim() || slugOf(name)
  if (name === '') return refuse('name-required')
  if (name.length > NAME_LENGTH_MAX) return refuse('name-too-long', { max: NAME_LENGTH_MAX })
  if (description.length > DESCRIPTION_LENGTH_MAX)
    return refuse('description-too-long', { max: DESCRIPTION_LENGTH_MAX })
  if (!isStorableLine(name) || !isStorableLine(description)) return refuse('push-group-text-invalid')
  if (!ID.test(id)) return refuse('push-group-id-invalid')
  const read = readSelector(body.selector, PUSH_GROUP_RULES)
  return read.ok ? { ok: true, group: { id, name, description, selector: read.selector } } : read
}

/** A group as the wire shows it. */
export function toPushGroup({ id, name, description, selector }: StoredPushGroup): PushGroup {
  return { id, name, ...(description === '' ? {} : { description }), selector }
}
