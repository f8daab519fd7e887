import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { commonTexts } from './i18n/common.ts'
import { say } from './i18n/define.ts'
import { shellTexts } from './i18n/shell.ts'
import { FleetPage } from './pages/fleet.tsx'
import { LoginPage } from './pages/login.tsx'
import { lazy } from './parts/lazy.tsx'
import { Head, useTitle } from './parts/page.tsx'
import { nameOfPart, PAGE_RIGHTS, Shell } from './parts/shell.tsx'
import { Toasts } from './parts/toast.tsx'
import { matchPath, navigate, path, query } from './state/router.ts'
import { holds, me, serverAway } from './state/session.ts'

type Params = Record<string, string>
type Page = ComponentType<{ params: Params }>

/** A page whose code comes when it is first opened; where it does not, its part of the console is named. */
const page = (load: () => Promise<Page>): Page => lazy(load, nameOfPart)

const workload = page(async () => (await import('./pages/workload.tsx')).WorkloadPage)
const LeftOutFor = lazy(async () => (await import('./parts/left-out-for.tsx')).LeftOutFor)
const settings = page(async () => (await import('./pages/settings.tsx')).SettingsPage)

/** Every address of the console. The first that fits is shown. */
const ROUTES: readonly (readonly [string, Page])[] = [
  ['/', FleetPage],
  ['/workloads/:id/change', page(async () => (await import('./pages/change.tsx')).ChangePage)],
  ['/workloads/:id/changes/:approval', page(async () => (await import('./pages/review.tsx')).ReviewPage)],
  ['/workloads/:id/pushes/:hash', page(async () => (await import('./pages/push.tsx')).PushPage)],
  ['/workloads/:id/rollouts/:rollout', page(async () => (await import('./pages/rollout.tsx')).RolloutPage)],
  ['/workloads/:id/compare', page(async () => (await import('./pages/compare.tsx')).ComparePage)],
  ['/workloads/:id', workload],
  ['/workloads/:id/:tab', workload],
  ['/approvals', page(async () => (await import('./pages/approvals.tsx')).ApprovalsPage)],
  ['/campaigns', page(async () => (await import('./pages/campaigns.tsx')).CampaignsPage)],
  ['/campaigns/new', page(async () => (await import('./pages/campaign-new.tsx')).NewCampaignPage)],
  ['/adopt', page(async () => (await import('./pages/adopt.tsx')).AdoptPage)],
  ['/campaigns/:id/edit', page(async () => (await import('./pages/campaign-new.tsx')).EditCampaignPage)],
  ['/campaigns/:id', page(async () => (await import('./pages/campaign.tsx')).CampaignPage)],
  ['/fleet-configs', page(async () => (await import('./pages/fleet-configs.tsx')).FleetConfigsPage)],
  ['/fleet-configs/new', page(async () => (await import('./pages/fleet-config-new.tsx')).NewFleetConfigPage)],
  [
    '/fleet-configs/:id/new-version',
    page(async () => (await import('./pages/fleet-config-version-new.tsx')).NewFleetConfigVersionPage),
  ],
  ['/fleet-configs/:id', page(async () => (await import('./pages/fleet-config.tsx')).FleetConfigPage)],
  ['/overview', page(async () => (await import('./pages/overview.tsx')).OverviewPage)],
  ['/changes', page(async () => (await import('./pages/changes.tsx')).ChangesPage)],
  ['/alerts', page(async () => (await import('./pages/alerts.tsx')).AlertsPage)],
  ['/versions', page(async () => (await import('./pages/versions.tsx')).VersionsPage)],
  ['/drift', page(async () => (await import('./pages/drift.tsx')).DriftPage)],
  ['/templates', page(async () => (await import('./pages/templates.tsx')).TemplatesPage)],
  ['/templates/new', page(async () => (await import('./pages/template-new.tsx')).NewTemplatePage)],
  ['/templates/migrate', page(async () => (await import('./pages/migrate.tsx')).MigratePage)],
  ['/templates/:id', page(async () => (await import('./pages/template.tsx')).TemplatePage)],
  ['/reports', page(async () => (await import('./pages/reports.tsx')).ReportsPage)],
  ['/audit', page(async () => (await import('./pages/audit.tsx')).AuditPage)],
  ['/command-line', page(async () => (await import('./pages/command-line.tsx')).CommandLinePage)],
  ['/settings', settings],
  ['/settings/:section', settings],
]

/** A page that the reader may not see: what it is, and the right that it takes; none of its controls. */
function Closed({ page }: { page: keyof typeof PAGE_RIGHTS }) {
  const { nav } = say(shellTexts)
  return (
    <div class="stack">
      <Head title={nav[page.slice(1) as 'approvals' | 'campaigns' | 'reports' | 'audit']} />
      <LeftOutFor permission={PAGE_RIGHTS[page]} />
    </div>
  )
}

const isRestricted = (pattern: string): pattern is keyof typeof PAGE_RIGHTS => pattern in PAGE_RIGHTS

function NotFound() {
  const words = say(commonTexts)
  useTitle(words.notFound)
  return (
    <div class="empty">
      <h1>{words.notFound}</h1>
      <p>
        <a class="link" href="/">
          {words.toFleet}
        </a>
      </p>
    </div>
  )
}

/** The page of an address, and what is in the address; null where there is none. */
function findPage(here: string): { pattern: string; PageOf: Page; params: Params } | null {
  for (const [pattern, PageOf] of ROUTES) {
    const params = matchPath(pattern, here)
    if (params !== null) return { pattern, PageOf, params }
  }
  return null
}

/** The page of an address. Moving to another one puts the focus where reading starts. */
function Routed() {
  const here = path.value
  const isFirst = useRef(true)
  const found = findPage(here)
  // A tab is part of its page: whoever chose it stays on it.
  const tab = found?.params['tab']
  const pageKey = tab === undefined ? here : here.slice(0, -tab.length - 1)
  // The focus moves when the page does.
  useEffect(() => {
    if (!isFirst.current) document.getElementById('main')?.focus({ preventScroll: true })
    isFirst.current = false
  }, [pageKey])
  if (found === null) return <NotFound />
  const { pattern, PageOf, params } = found
  if (isRestricted(pattern) && !holds(PAGE_RIGHTS[pattern])) return <Closed page={pattern} />
  return <PageOf key={`${pattern.split('/')[1]}:${params['id'] ?? ''}`} params={params} />
}

function Starting() {
  const words = say(shellTexts)
  return (
    <main class="login">
      {serverAway.value ? (
        <div class="notice" role="alert">
          <div>
            <b>{words.serverAway}</b> {words.serverAwayMore}
          </div>
        </div>
      ) : (
        <p class="muted" role="status">
          {say(commonTexts).loading}
        </p>
      )}
    </main>
  )
}

/** The whole console: the sign-in page alone, or a page with the navigation around it. */
export function App() {
  const user = me.value
  const isLogin = path.value === '/login'
  useEffect(() => {
    if (user === null && !isLogin) {
      const here = window.location.pathname + window.location.search
      navigate(here === '/' ? '/login' : `/login?next=${encodeURIComponent(here)}`, { replace: true })
    }
    if (user && isLogin) {
      const next = query.peek().get('next') ?? '/'
      // Only addresses of this console; never another host.
      navigate(/^\/(?![/\\])/.test(next) ? next : '/', { replace: true })
    }
  }, [user, isLogin])
  if (user === undefined) return <Starting />
  return (
    <>
      {user === null ? (
        <LoginPage />
      ) : (
        !isLogin && (
          <Shell>
            <Routed />
          </Shell>
        )
      )}
      <Toasts />
    </>
  )
}
