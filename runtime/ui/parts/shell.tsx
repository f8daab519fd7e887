import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Permission } from '../../../lib/model/permissions.ts'
import { commonTexts } from '../i18n/common.ts'
import { say } from '../i18n/define.ts'
import { formatClock, formatNumber } from '../i18n/format.ts'
import { shellTexts } from '../i18n/shell.ts'
import { isConnectOpen } from '../state/connecting.ts'
import { api } from '../state/endpoints.ts'
import { countForYou, sumOf } from '../state/for-you.ts'
import { heardAt, hubState } from '../state/hub.ts'
import { useReviews } from '../state/reviews.ts'
import { path } from '../state/router.ts'
import { can, holds, me, signOut } from '../state/session.ts'
import { useResource } from '../state/use-resource.ts'
import { useWaitingCampaigns } from '../state/waiting-campaigns.ts'
import { Icon } from './icons.tsx'
import { areKeysShown, Keys, onSingleKey, PALETTE_KEY } from './keys.tsx'
import { lazy } from './lazy.tsx'
import { Menu } from './menu.tsx'
import { NavIcon, type NavShape } from './nav-icons.tsx'
import { useCurrentInSight } from './page.tsx'
import { Palette } from './palette.tsx'

const ConnectDialog = lazy(async () => (await import('./connect-guide.tsx')).ConnectDialog)

/** Whether the palette is open. */
export const isPaletteOpen = signal(false)

/** Groups of pages by what they are opened for: to see the present state, to change it, or to show what happened. */
const NAV_GROUPS = ['watch', 'change', 'prove'] as const

/** The rights that pages take as a whole: without them there is nothing of a page to show. */
export const PAGE_RIGHTS = {
  '/approvals': 'config:request',
  '/campaigns': 'config:request',
  '/reports': 'reports:export',
  '/audit': 'audit:view',
} as const satisfies Record<string, Permission>

interface NavItem {
  href: string
  text: string
  group: (typeof NAV_GROUPS)[number]
  icon: NavShape
  count?: number
  /** What the number counts, where that is not all that the page lists. */
  countText?: string
}

/** The pages that this edition has and this person may open. */
export function listPages(counts: { approvals?: number; alerts?: number } = {}): NavItem[] {
  const { nav } = say(shellTexts)
  const items: (NavItem | false)[] = [
    { href: '/overview', text: nav.overview, group: 'watch', icon: 'overview' },
    { href: '/', text: nav.fleet, group: 'watch', icon: 'fleet' },
    { href: '/alerts', text: nav.alerts, group: 'watch', icon: 'alerts', count: counts.alerts ?? 0 },
    { href: '/changes', text: nav.changes, group: 'watch', icon: 'changes' },
    can('config_safety.version_intelligence') && {
      href: '/versions',
      text: nav.versions,
      group: 'watch',
      icon: 'versions',
    },
    can('config_safety.drift_dashboard') && {
      href: '/drift',
      text: nav.drift,
      group: 'watch',
      icon: 'drift',
    },
    can('config_safety.approvals') &&
      holds(PAGE_RIGHTS['/approvals']) && {
        href: '/approvals',
        text: nav.approvals,
        group: 'change',
        icon: 'approvals',
        count: counts.approvals ?? 0,
        countText: say(shellTexts).forYou(counts.approvals ?? 0),
      },
    can('config_safety.campaigns') &&
      holds(PAGE_RIGHTS['/campaigns']) && {
        href: '/campaigns',
        text: nav.campaigns,
        group: 'change',
        icon: 'campaigns',
      },
    can('config_safety.campaigns') && {
      href: '/fleet-configs',
      text: nav.fleetConfigs,
      group: 'change',
      icon: 'fleetConfigs',
    },
    { href: '/templates', text: nav.templates, group: 'change', icon: 'templates' },
    holds(PAGE_RIGHTS['/reports']) && {
      href: '/reports',
      text: nav.reports,
      group: 'prove',
      icon: 'reports',
    },
    holds(PAGE_RIGHTS['/audit']) && { href: '/audit', text: nav.audit, group: 'prove', icon: 'audit' },
  ]
  return items.filter((item) => item !== false)
}

/** What the part of the console is called that the address is in: the page of the navigation, or the settings. */
export function nameOfPart(): string {
  const first = path.value.split('/')[1] ?? ''
  const { nav } = say(shellTexts)
  return first === 'settings'
    ? nav.settings
    : (listPages().find(({ href }) => href === `/${first}`)?.text ?? nav.fleet)
}

function useCounts() {
  const seesApprovals = can('config_safety.approvals') && holds('config:request')
  const approvals = useResource(
    seesApprovals ? 'approvals:pending' : null,
    (abort) => api.approvals('pending', abort),
    (frame) => frame.type === 'approval_update',
  )
  const alerts = useResource(
    'nav-alerts',
    (abort) => api.alertCount(abort),
    (frame) => frame.type === 'alert_update' || frame.type === 'workload_removed',
  )
  const campaigns = useWaitingCampaigns()
  const reviews = useReviews(seesApprovals)
  const waiting = countForYou(approvals.data ?? [], campaigns, reviews.data ?? [])
  return { approvals: sumOf(waiting), alerts: alerts.data?.open_count ?? 0 }
}

function LiveMark() {
  const words = say(shellTexts)
  const state = hubState.value
  const since = heardAt.value
  const away = since === null ? words.away : words.stale(formatClock(since))
  return (
    <span class="live" role="status" title={state === 'live' ? words.liveTitle : words.awayTitle}>
      <span class={state === 'live' ? 'ok' : state === 'away' ? 'bad' : 'idle'}>
        <Icon shape={state === 'live' ? 'full' : state === 'away' ? 'ring' : 'half'} />
      </span>
      {state === 'live' ? words.live : state === 'away' ? away : words.connecting}
    </span>
  )
}

/** From when the page is, where the connection is lost: who looks at numbers does not look for the mark. */
function Stale() {
  const since = heardAt.value
  if (hubState.value !== 'away' || since === null) return null
  return <p class="stale">{say(shellTexts).staleLine(formatClock(since))}</p>
}

function Account() {
  const words = say(shellTexts)
  return (
    <Menu
      kind="plain"
      label={
        <>
          <span class="sr">{words.account}</span>
          <span class="who muted">{me.value?.email}</span>
          <span aria-hidden="true">⌄</span>
        </>
      }
    >
      <a href="/settings/profile">{words.profile}</a>
      <a href="/settings">{words.nav.settings}</a>
      <button type="button" onClick={() => void signOut()}>
        {words.signOut}
      </button>
    </Menu>
  )
}

/** The pages, in groups that have their names where the pages stand one below the other. */
function Pages() {
  const words = say(shellTexts)
  const pages = listPages(useCounts())
  const row = useCurrentInSight(
    path.value.split('/')[1] ?? '',
    pages.map(({ text, count = 0 }) => `${text} ${count}`).join(' '),
  )
  return (
    <nav class="nav" aria-label={words.main} ref={row}>
      {NAV_GROUPS.map((group) => {
        const members = pages.filter((page) => page.group === group)
        if (members.length === 0) return null
        return (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the controls of a form; these are links.
          <div key={group} role="group" class="nav-group" aria-label={words.groups[group]}>
            <span class="nav-title" aria-hidden="true">
              {words.groups[group]}
            </span>
            {members.map(({ href, text, icon, count, countText }) => (
              <a key={href} href={href} aria-current={isCurrent(href) ? 'page' : undefined}>
                <NavIcon shape={icon} />
                {text}
                {count ? <b>{countText ?? formatNumber(count)}</b> : null}
              </a>
            ))}
          </div>
        )
      })}
    </nav>
  )
}

const isCurrent = (href: string) =>
  href === '/' ? path.value === '/' || path.value.startsWith('/workloads') : path.value.startsWith(href)

/** Go past filters and tools to the first row of the page's table, or to its content where that has nothing to focus. */
function goToTable(): void {
  const first = document.querySelector<HTMLElement>('main .sheet tbody :is(a, button, input)')
  const target = first ?? document.getElementById('main')
  target?.focus()
}

/** What is around every page once somebody is signed in. */
export function Shell({ children }: { children: ComponentChildren }) {
  const words = say(shellTexts)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        isPaletteOpen.value = !isPaletteOpen.value
        return
      }
      onSingleKey(event, () => {
        isPaletteOpen.value = true
      })
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return (
    <>
      <a class="skip" href="#main">
        {say(commonTexts).skip}
      </a>
      <button type="button" class="skip to-table" onClick={goToTable}>
        {say(commonTexts).skipToTable}
      </button>
      <header class="bar">
        <a class="brand" href="/">
          muster<i>.</i>
        </a>
        <button
          type="button"
          class="find"
          aria-keyshortcuts="Control+K"
          onClick={() => {
            isPaletteOpen.value = true
          }}
        >
          <svg class="lens" viewBox="0 0 16 16" aria-hidden="true">
            <path d="M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2ZM10.6 10.6 14 14" />
          </svg>
          <span>{words.find}</span>
          <kbd>{PALETTE_KEY}</kbd>
        </button>
        <Pages />
        <div class="side">
          <LiveMark />
          <Account />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Stale />
        {children}
      </main>
      {isPaletteOpen.value && <Palette pages={listPages()} onClose={() => (isPaletteOpen.value = false)} />}
      {areKeysShown.value && <Keys />}
      {isConnectOpen.value && <ConnectDialog onClose={() => (isConnectOpen.value = false)} />}
    </>
  )
}
