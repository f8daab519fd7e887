import { CATEGORIES } from '../../wire/values.ts'
import { type ConfigObject, type ConfigValue, isObject, sortedKeys } from '../yaml/value.ts'
import { isAddressKey } from './address-keys.ts'
import { componentType } from './components.ts'
import { type StructureFinding, structureError } from './structure-finding.ts'

/** Schemes whose authority is a host and a port, for which collectors use Go's URL parser. */
const URL_AUTHORITY = /^(?:https?|grpcs?|wss?|tcp|udp):\/\/([^/?#]*)/i
const PORT_MAX = 65_535

/** Every address of a component whose port no collector can use. */
export function endpointFindings(root: ConfigObject): StructureFinding[] {
  const findings: StructureFinding[] = []
  for (const category of CATEGORIES) {
    const section = root[category]
    if (!isObject(section)) continue
    for (const id of sortedKeys(section)) {
      // OTLP exporters need a port in digits even without a scheme; other components may take the name of a port.
      const needsNumber = category === 'exporters' && componentType(id).startsWith('otlp')
      collect(section[id]!, `${category}.${id}`, needsNumber, findings)
    }
  }
  return findings
}

function collect(value: ConfigValue, path: string, needsNumber: boolean, into: StructureFinding[]): void {
  if (Array.isArray(value)) {
    value.forEach((entry, index) => {
      collect(entry, `${path}[${index}]`, needsNumber, into)
    })
    return
  }
  if (!isObject(value)) return
  for (const key of sortedKeys(value)) {
    const entry = value[key]!
    const at = `${path}.${key}`
    if (typeof entry !== 'string') collect(entry, at, needsNumber, into)
    else if (isAddressKey(key)) {
      const problem = portProblem(entry.trim(), needsNumber)
      if (problem !== null) into.push(structureError('invalid_endpoint', problem, at))
    }
  }
}

/** What is wrong with the port of an address. The message never quotes the address, which may hold a password. */
function portProblem(text: string, needsNumber: boolean): string | null {
  // A `${…}` is filled in by the collector, a template by a receiver for each of its targets: the port is not known.
  if (/[`${}]/.test(text)) return null
  const authority = URL_AUTHORITY.exec(text)?.[1]
  if (authority === undefined && (!needsNumber || /:\/\/|^unix:|[/\s]/.test(text))) return null
  const host = (authority ?? text).slice((authority ?? text).lastIndexOf('@') + 1)
  const port = /^\[[^\]]*\]/.test(host) ? host.replace(/^\[[^\]]*\]/, '') : host
  const colon = port.lastIndexOf(':')
  if (colon === -1) return null
  const digits = port.slice(colon + 1)
  if (digits === '' && authority !== undefined) return null
  if (!/^\d+$/.test(digits)) return 'the port of the address is not a number'
  return Number(digits) > PORT_MAX ? `the port of the address is above ${PORT_MAX}` : null
}
