import { type AuditSink, noAuditSink } from '../lib/audit/delivery.ts'
import { GATES, type Gate } from '../lib/model/gates.ts'
import type { ReportParts } from '../lib/reports/produce.ts'
import { communitySigner } from '../lib/reports/signer.ts'
import type { Capability, CapabilityDocument } from '../lib/wire/capabilities.ts'
import type { AuthMethod } from '../lib/wire/identity.ts'

/** What a build of the product can do beyond the core. Chosen by code, never by the environment. */
export interface Edition {
  name: string
  capabilities: CapabilityDocument
  /** Which gates are open: by an enabled capability, or by the licence. */
  gates: { has(gate: Gate): boolean }
  /** The ways to sign in, as of now. */
  authMethods(): Promise<readonly AuthMethod[]>
  auditSink: AuditSink
  reports: ReportParts
}

/** What an edition binary may bring; everything but its name and capabilities is optional. */
export interface EditionParts {
  name: string
  capabilities: readonly Capability[]
  /** Appended after the password; an id that is there already is dropped. */
  authMethods?: readonly AuthMethod[]
  /** Replaces the whole list when it returns one, an empty one included. */
  provideAuthMethods?: () => Promise<readonly AuthMethod[] | null>
  /** Opens gates that no capability declares; the capability document does not show that. */
  isLicensed?: (gate: Gate) => boolean
  auditSink?: AuditSink
  /** Signs evidence packs, and vouches for the audit chain in them. */
  reports?: Partial<ReportParts>
}

const PASSWORD: AuthMethod = {
  id: 'password',
  type: 'password',
  display_name: 'Email + password',
  login_url: '/api/auth/login',
}

const STATES = ['enabled', 'disabled', 'read_only']
const REASONS = ['not_enabled', 'prerequisite_unavailable', 'read_only_mode']

/** Build an edition. Throws when its capabilities break the document's rules. */
export function createEdition(parts: EditionParts): Edition {
  const fault = parts.capabilities.map(describeFault).find((text) => text !== null)
  if (fault) throw new Error(`Cannot build edition ${parts.name}: ${fault}`)
  const ids = parts.capabilities.map((capability) => capability.id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined)
    throw new Error(`Cannot build edition ${parts.name}: capability ${twice} is there twice`)
  const enabled = new Set(parts.capabilities.filter(({ state }) => state === 'enabled').map(({ id }) => id))
  const methods = uniqueById([PASSWORD, ...(parts.authMethods ?? [])])
  return {
    name: parts.name,
    capabilities: {
      api_version: 'v1',
      capabilities: [...parts.capabilities].sort((a, b) => (a.id < b.id ? -1 : 1)),
    },
    gates: { has: (gate) => enabled.has(gate) || parts.isLicensed?.(gate) === true },
    authMethods: async () => (await parts.provideAuthMethods?.()) ?? methods,
    auditSink: parts.auditSink ?? noAuditSink,
    reports: { signer: communitySigner, verifySignedAudit: null, ...parts.reports },
  }
}

function describeFault({ id, state, reason_code: reason }: Capability): string | null {
  if (!STATES.includes(state)) return `capability ${id} has the unknown state "${state}"`
  if (state === 'enabled') return reason === undefined ? null : `enabled capability ${id} has a reason`
  if (reason !== undefined && REASONS.includes(reason)) return null
  return `capability ${id} is ${state} and needs a known reason`
}

function uniqueById(methods: readonly AuthMethod[]): AuthMethod[] {
  return methods.filter(({ id }, index) => methods.findIndex((other) => other.id === id) === index)
}

/** What clients look for before they show it, though no gate is in front of it here. */
const UNGATED = ['audit.viewer'] as const

const enable = (id: string): Capability => ({ id, state: 'enabled' })

/** The default edition. */
export const createCommunityEdition = (): Edition =>
  createEdition({
    name: 'community',
    capabilities: ['config_safety.approvals', 'config_safety.policy_preview'].map(enable),
  })

/** Everything that is implemented. */
export const createCompleteEdition = (): Edition =>
  createEdition({ name: 'complete', capabilities: [...GATES, ...UNGATED].map(enable) })
