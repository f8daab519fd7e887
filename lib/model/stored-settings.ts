import {
  array,
  boolean,
  enums,
  is,
  nullable,
  number,
  object,
  optional,
  type Struct,
  string,
  validate,
} from 'superstruct'
import { Selector } from '../wire/selectors.ts'
import { WORKLOAD_LINKS_MAX } from '../wire/values.ts'
import { WorkloadLink } from '../wire/workload-links.ts'
import {
  type ApprovalPolicy,
  type ApprovalRule,
  type PendingPolicy,
  VALID_HOURS_MAX,
} from './approval-policy.ts'
import { readLinkTemplate } from './link-template.ts'
import { readTime } from './times.ts'
import { isComparable } from './versions.ts'

// What administrators store. A row may have been written by hand, or by another version: what cannot be read counts as
// not stored, and nothing fails because of it. Where less would be asked then, whoever reads it takes the strictest.

const Rule = object({ approvals: enums([1, 2]), authorCounts: boolean(), validHours: nullable(number()) })
const Policy = object({ production: Rule, other: Rule, unlabelled: Rule })
const Policies = object({
  policy: Policy,
  pending: nullable(object({ policy: Policy, by: string(), byId: string(), at: string() })),
})
const Lowered = object({ by: string(), byId: optional(string()), at: string(), from: Policy })
const FreezeValue = object({ selector: nullable(Selector), reason: string(), until: string() })
const Links = array(WorkloadLink)

/** A stored approval policy, and the one that waits. */
export interface StoredPolicies {
  policy: ApprovalPolicy
  pending: PendingPolicy | null
}

/** A policy that asks less and came into force because nobody said anything for its whole wait. */
export interface LoweredPolicy {
  /** Who asked for it. */
  by: string
  /** The account; null in rows from before it was kept. */
  byId: string | null
  /** When it came into force, by the database's clock. */
  at: Date
  /** The policy before it. */
  from: ApprovalPolicy
}

/** What is stored of a freeze, besides who set it and when. */
export interface StoredFreeze {
  /** Null for the whole fleet. */
  selector: Selector | null
  reason: string
  until: Date
}

/** Read JSON of this shape; null where it is none. */
function readJson<T>(text: string, shape: Struct<T, unknown>): T | null {
  try {
    const value: unknown = JSON.parse(text)
    return is(value, shape) ? value : null
  } catch {
    return null
  }
}

const areHoursOf = ({ validHours: hours }: ApprovalRule): boolean =>
  hours === null || (Number.isInteger(hours) && hours > 0 && hours <= VALID_HOURS_MAX)

const areHours = (policy: ApprovalPolicy): boolean => Object.values(policy).every(areHoursOf)

/** Where what is stored of the approval policies is wrong, such as `policy.other.approvals`. */
export function faultOfPolicies(text: string): string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'JSON'
  }
  const [failure] = validate(value, Policies)
  if (failure !== undefined)
    return (
      failure.path
        .slice(0, 3)
        .map((key) => `${key}`.slice(0, 40))
        .join('.') || 'JSON'
    )
  const { policy, pending } = value as { policy: ApprovalPolicy; pending: unknown }
  const class_ = Object.entries(policy).find(([, rule]) => !areHoursOf(rule))
  if (class_ !== undefined) return `policy.${class_[0]}.validHours`
  return pending === null ? 'JSON' : 'pending'
}

/** The stored approval policies; null where they cannot be read. */
export function readStoredPolicies(text: string): StoredPolicies | null {
  const read = readJson(text, Policies)
  if (read === null || !areHours(read.policy)) return null
  if (read.pending === null) return { policy: read.policy, pending: null }
  const at = readTime(read.pending.at)
  if (at === null || !areHours(read.pending.policy)) return null
  return { policy: read.policy, pending: { ...read.pending, at } }
}

/** What is stored of a policy that came into force by waiting; null where it cannot be read. */
export function readStoredLowered(text: string): LoweredPolicy | null {
  const read = readJson(text, Lowered)
  const at = read === null ? null : readTime(read.at)
  return read === null || at === null ? null : { ...read, byId: read.byId ?? null, at }
}

/** The stored freeze; null where it cannot be read. */
export function readStoredFreeze(text: string): StoredFreeze | null {
  const read = readJson(text, FreezeValue)
  const until = read === null ? null : readTime(read.until)
  return read === null || until === null ? null : { ...read, until }
}

/** The stored version that is recommended; null where it is none that agents could be compared with. */
export const readStoredVersion = (text: string): string | null => (isComparable(text) ? text : null)

/** The stored links of workloads; null where they cannot be read, or one could lead to where agents say. */
export function readStoredLinks(text: string): WorkloadLink[] | null {
  const links = readJson(text, Links)
  if (links === null || links.length > WORKLOAD_LINKS_MAX) return null
  return links.every(({ url }) => readLinkTemplate(url).ok) ? links : null
}

/** Reads what is stored under each name; null where it cannot be read. */
export const STORED_SETTINGS = {
  approval_policy: readStoredPolicies,
  approval_policy_lowered: readStoredLowered,
  freeze: readStoredFreeze,
  recommended_version: readStoredVersion,
  workload_links: readStoredLinks,
} as const
export type SettingName = keyof typeof STORED_SETTINGS
