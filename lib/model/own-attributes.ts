import { compareText } from './text-order.ts'

/**
 * Attributes that say which agent it is, its build and where it runs. A supervisor copies the agent's whole description
 * to the telemetry resource of its config, so that two hosts with one config differ in nothing else.
 */
const AGENT_ATTRIBUTE =
  /^(?:service\.(?:instance\.id|name|namespace|version)|(?:cloud|container|host|k8s|os|process)\..+)$/

/** Whether an attribute says which agent it is, its build or where it runs. */
export const namesAgent = (key: string): boolean => AGENT_ATTRIBUTE.test(key)

/** Attributes that an agent reports of itself, beyond those that say which agent it is. */
export type OwnAttributes = Readonly<Record<string, string>>

/** Characters that are looked through at most for the keys of one agent: to look for 128 in 2 MB takes over a second. */
const LOOKED_THROUGH_MAX = 4_000_000

/**
 * Those of an agent's attributes that whoever runs it gave it, such as a team or a rack, and that its config names: a
 * supervisor copies them to the telemetry resource as well. Where it would take long to look for them, all are given:
 * whoever reads the config compares them with it one by one.
 */
export function ownAttributesIn(text: string, attributes: ReadonlyMap<string, string> | null): OwnAttributes {
  const given = [...(attributes ?? [])].filter(([key]) => !namesAgent(key))
  const mayLook = text.length * given.length <= LOOKED_THROUGH_MAX
  const own = mayLook ? given.filter(([key]) => text.includes(key)) : given
  return Object.fromEntries(own.sort(([one], [other]) => compareText(one, other)))
}
