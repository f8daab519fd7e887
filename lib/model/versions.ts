import { byBytes } from './text-order.ts'

/** A version that can be compared: three numbers and the identifiers of a pre-release. */
interface Version {
  core: readonly [bigint, bigint, bigint]
  /** Empty for a release. */
  preRelease: readonly string[]
}

/** Core numbers must fit into 64 bits; what is larger is not a version anybody ships. */
const CORE_NUMBER_MAX = 2n ** 64n - 1n
const DIGITS = /^[0-9]+$/
/** 2^64 has 20 digits; leading zeros are allowed, but not so many that parsing costs. */
const CORE_DIGITS_MAX = 40
/** What is longer is no version anybody ships: agents choose theirs, and lists of them are sorted. */
const CHARACTERS_MAX = 128

function parseVersion(text: string): Version | null {
  if (text.length > CHARACTERS_MAX) return null
  const trimmed = text.trim()
  const bare = trimmed.startsWith('v') ? trimmed.slice(1) : trimmed
  const plus = bare.indexOf('+')
  const withoutBuild = plus < 0 ? bare : bare.slice(0, plus)
  const dash = withoutBuild.indexOf('-')
  const core = parseCore(dash < 0 ? withoutBuild : withoutBuild.slice(0, dash))
  if (core === null) return null
  // A bare trailing dash counts as a release, as agents in the field send it.
  const tail = dash < 0 ? '' : withoutBuild.slice(dash + 1)
  const preRelease = tail === '' ? [] : tail.split('.')
  return preRelease.includes('') ? null : { core, preRelease }
}

function parseCore(text: string): Version['core'] | null {
  const parts = text.split('.')
  if (parts.length !== 3) return null
  if (parts.some((part) => !DIGITS.test(part) || part.length > CORE_DIGITS_MAX)) return null
  const numbers = parts.map((part) => BigInt(part))
  if (numbers.some((number) => number > CORE_NUMBER_MAX)) return null
  return [numbers[0]!, numbers[1]!, numbers[2]!]
}

/** Numbers of any length in decimal digits, without ever building the number. */
function compareDigits(a: string, b: string): number {
  const left = a.replace(/^0+(?=.)/, '')
  const right = b.replace(/^0+(?=.)/, '')
  return left.length === right.length ? byBytes(left, right) : left.length < right.length ? -1 : 1
}

function compareIdentifiers(a: string, b: string): number {
  const isNumericA = DIGITS.test(a)
  const isNumericB = DIGITS.test(b)
  if (isNumericA && isNumericB) return compareDigits(a, b)
  if (isNumericA !== isNumericB) return isNumericA ? -1 : 1
  return byBytes(a, b)
}

function comparePreReleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length === b.length ? 0 : a.length === 0 ? 1 : -1
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    // Versions that agents make up may have dozens that are equal.
    if (a[i] === b[i]) continue
    const order = compareIdentifiers(a[i]!, b[i]!)
    if (order !== 0) return order
  }
  return Math.sign(a.length - b.length)
}

/** Whether `text` is a semantic version with three numbers; `1.2` and `V1.2.3` are not. */
export function isComparable(text: string): boolean {
  return parseVersion(text) !== null
}

/**
 * Which of two semantic versions is newer: negative when `a` is older, 0 when they are equal in precedence,
 * positive when `a` is newer, null when either is not a semantic version. Build metadata does not count.
 */
export const compareVersions = (a: string, b: string): number | null =>
  comparePrecedence(parseVersion(a), parseVersion(b))

function comparePrecedence(left: Version | null, right: Version | null): number | null {
  if (left === null || right === null) return null
  for (let i = 0; i < 3; i++) {
    if (left.core[i]! !== right.core[i]!) return left.core[i]! < right.core[i]! ? -1 : 1
  }
  return comparePreReleases(left.preRelease, right.preRelease)
}

/**
 * Whether a collector of this version is to be updated, as lists and alerts say it; false whenever the two cannot be
 * compared. `isBelowMinimum` is the stricter question, for what is refused.
 */
export function isVersionOutdated(version: string, minAgentVersion: string): boolean {
  const order = compareVersions(version, minAgentVersion)
  return order !== null && order < 0
}

/**
 * Whether a version is older than the least that is allowed, by the same order. Numbers that are left out count as 0;
 * what is no version at all cannot be shown to be new enough.
 */
export function isBelowMinimum(version: string, minimum: string): boolean {
  const order = compareVersions(withThreeNumbers(version), withThreeNumbers(minimum))
  return order === null ? isComparable(withThreeNumbers(minimum)) : order < 0
}

/** `0.150` as `0.150.0`. */
function withThreeNumbers(version: string): string {
  const [, core = '', rest = ''] = /^(v?\d{1,40}(?:\.\d{1,40}){0,2})(.*)$/s.exec(version.trim()) ?? []
  const missing = 3 - core.split('.').length
  return core === '' ? version : `${core}${'.0'.repeat(missing)}${rest}`
}

/** A version's text with what was read of it, for one that is compared many times. */
export interface ReadVersion {
  readonly text: string
  /** Null when it is no version that can be compared. */
  readonly version: Version | null
}

export const readVersion = (text: string): ReadVersion => ({ text, version: parseVersion(text) })

/** Versions that can be compared come before those that cannot, each from the lowest up. */
export const lowestFirst = (a: ReadVersion, b: ReadVersion): number =>
  Number(a.version === null) - Number(b.version === null) ||
  comparePrecedence(a.version, b.version) ||
  byBytes(a.text, b.text)

/**
 * The order of the versions of one list: the newest first; what is no version behind, and '' last. Each is read once,
 * however often it is compared, so the order is for one list.
 */
export function newestFirst(): (a: string, b: string) => number {
  const read = new Map<string, Version | null>()
  const versionOf = (text: string): Version | null => {
    const known = read.get(text)
    if (known !== undefined) return known
    const version = parseVersion(text)
    read.set(text, version)
    return version
  }
  return (a, b) => {
    const [left, right] = [versionOf(a), versionOf(b)]
    return (
      comparePrecedence(right, left) ||
      Number(right !== null) - Number(left !== null) ||
      Number(a === '') - Number(b === '') ||
      byBytes(a, b)
    )
  }
}
