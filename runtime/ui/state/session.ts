import { computed, signal } from '@preact/signals'
import { type ChangeReach, isReachWithin } from '../../../lib/selectors/within-scope.ts'
import type { CapabilityDocument } from '../../../lib/wire/capabilities.ts'
import type { GroupScope, LoginResponse, Me, Preferences, Theme } from '../../../lib/wire/identity.ts'
import { language } from '../i18n/define.ts'
import { readCapabilities } from '../logic/capabilities.ts'
import { rightsAt, scopesOf } from '../logic/scopes.ts'
import { call, onSessionEnded, type Result } from './api.ts'
import { fetchedWorkload } from './fleet.ts'
import { loadNames, namedOf } from './names.ts'
import { matchPath, navigate, path } from './router.ts'

/** Who is signed in; undefined until the server said, null when nobody is. */
export const me = signal<Me | null | undefined>(undefined)
const enabled = signal<ReadonlySet<string>>(new Set())
/** Set when the server could not be asked who is signed in. */
export const serverAway = signal(false)
const THEME_KEY = 'muster.theme'
const LANGUAGE_KEY = 'muster.language'
/**
 * Set while this browser has, or may have, a session. The cookie itself cannot be seen from here, and asking
 * without one is an error in every console.
 */
const SESSION_KEY = 'muster.session'

const labelsOf = (workloadId: string): Readonly<Record<string, string>> | undefined => {
  const fetched = fetchedWorkload.value
  return fetched?.id === workloadId ? fetched.labels : namedOf(workloadId)?.labels
}

/** The labels of the workload that the address names, as text; absent for whoever has no scopes. */
const here = computed(() => {
  if (me.value?.scoped === undefined) return undefined
  const found = matchPath('/workloads/:id', path.value.split('/').slice(0, 3).join('/'))
  const labels = found === null ? undefined : labelsOf(found['id'] ?? '')
  return labels && JSON.stringify(labels)
})
const permissions = computed(() =>
  rightsAt(me.value, here.value === undefined ? undefined : JSON.parse(here.value)),
)
/** What an action is about: a workload, by its id, or all that a change of many can reach. */
export type About = string | ChangeReach

/**
 * Whether whoever is signed in may do this: about what is named, or on the workload that the page is about; where
 * neither is known, anywhere.
 */
export const may = (permission: string, about?: About): boolean => {
  if (about === undefined || me.value?.scoped === undefined) return permissions.value.has(permission)
  if (typeof about === 'string') return rightsAt(me.value, labelsOf(about)).has(permission)
  return me.value.permissions.includes(permission) || isReachWithin(boundTo(permission), about)
}
/** The scopes that a right of whoever is signed in is bound to; none where it is not held, or holds everywhere. */
export const boundTo = (permission: string): GroupScope[] => scopesOf(me.value, permission)
/** The labels of the workload that is named, or that the page is about; undefined where that is unknown, or none is. */
export const labelsAbout = (about?: About): Readonly<Record<string, string>> | undefined =>
  typeof about === 'string'
    ? labelsOf(about)
    : about === undefined && here.value !== undefined
      ? JSON.parse(here.value)
      : undefined
/** What whoever is signed in may do, be it within a scope only. */
export const heldSomewhere = (): string[] => [...rightsAt(me.value, undefined)].sort()
/** Whether whoever is signed in has a right anywhere, whatever the page is about. */
export const holds = (permission: string): boolean => rightsAt(me.value, undefined).has(permission)
/** Whether this edition has the capability enabled. */
export const can = (capability: string): boolean => enabled.value.has(capability)

/** Show a theme and remember it for the next start. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
  localStorage.setItem(THEME_KEY, theme)
}

function applyLanguage(next: Preferences['language']): void {
  language.value = next
  document.documentElement.lang = next
  localStorage.setItem(LANGUAGE_KEY, next)
}

type Chosen = Pick<Preferences, 'theme' | 'language'>

function applyPreferences(preferences: Chosen): void {
  applyTheme(preferences.theme)
  applyLanguage(preferences.language)
}

/** The preferences of whoever signs in: until they have chosen any, what this browser shows. */
const withBrowsers = (preferences: Preferences): Preferences =>
  preferences.updated_at === undefined
    ? { ...preferences, theme: rememberedTheme(), language: language.value }
    : preferences

function rememberedTheme(): Theme {
  const theme = localStorage.getItem(THEME_KEY)
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** Before anybody is signed in: what this browser showed last, else what it asks for. */
export function applyRemembered(): void {
  applyTheme(rememberedTheme())
  const stored = localStorage.getItem(LANGUAGE_KEY)
  const wished = stored ?? navigator.language.slice(0, 2)
  applyLanguage(wished === 'fr' ? 'fr' : 'en')
}

/** Choose a language before signing in. */
export const chooseLanguage = applyLanguage

async function loadCapabilities(): Promise<void> {
  const result = await call<CapabilityDocument>('GET', '/api/v1/capabilities')
  enabled.value = readCapabilities(result.ok ? result.value : null)
}

/** Expect a session after the browser comes back from elsewhere, as from a single sign-on. */
export const expectSession = (): void => localStorage.setItem(SESSION_KEY, '1')

/** Ask the server who is signed in and what this edition can do. */
export async function loadSession(): Promise<void> {
  if (localStorage.getItem(SESSION_KEY) === null) {
    me.value = null
    return
  }
  const [result] = await Promise.all([
    call<Me>('GET', '/api/me', { keepsSession: true }),
    loadCapabilities(),
    loadNames(),
  ])
  serverAway.value = !result.ok && result.status !== 401
  if (result.ok) {
    const preferences = withBrowsers(result.value.preferences)
    applyPreferences(preferences)
    me.value = { ...result.value, preferences }
  } else if (result.status === 401) forgetSession()
}

function forgetSession(): void {
  localStorage.removeItem(SESSION_KEY)
  me.value = null
}

/** Sign in with a password at the method's address. */
export async function signIn(url: string, email: string, password: string): Promise<Result<LoginResponse>> {
  const result = await call<LoginResponse>('POST', url, { json: { email, password }, keepsSession: true })
  if (result.ok) {
    expectSession()
    await loadSession()
  }
  return result
}

/** End the session here and on the server. */
export async function signOut(): Promise<void> {
  await call('POST', '/api/auth/logout', { keepsSession: true })
  forgetSession()
  navigate('/login')
}

let lastSave: Promise<unknown> = Promise.resolve()

/**
 * Store a change of appearance or language for this user. It counts at once, so that the next change adds to it, and
 * changes reach the server in their order.
 */
export async function savePreferences(change: Partial<Chosen>): Promise<Result<Preferences>> {
  const { theme, language: chosen } = { ...me.value!.preferences, ...change }
  const json: Chosen = { theme, language: chosen }
  applyPreferences(json)
  me.value = { ...me.value!, preferences: { ...me.value!.preferences, ...json } }
  const saved = lastSave.then(() =>
    call<Preferences>('PUT', '/api/me/preferences', { json, outlivesPage: true }),
  )
  lastSave = saved
  return saved
}

/** Drop to the sign-in page and come back here afterwards. */
export function endSession(): void {
  if (me.value === null) return
  forgetSession()
  const here = window.location.pathname + window.location.search
  navigate(`/login?expired=1&next=${encodeURIComponent(here)}`, { replace: true })
}

onSessionEnded(endSession)
