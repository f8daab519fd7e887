import { say } from '../i18n/define.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { lazy } from '../parts/lazy.tsx'
import { Head } from '../parts/page.tsx'
import { may } from '../state/session.ts'
import { ProfileSection } from './settings-profile.tsx'

const SECTIONS = {
  profile: { needs: null, section: ProfileSection },
  tokens: {
    needs: null,
    section: lazy(async () => (await import('./settings-tokens.tsx')).TokensSection),
  },
  users: {
    needs: 'users:manage',
    section: lazy(async () => (await import('./settings-users.tsx')).UsersSection),
  },
  'user-groups': {
    needs: 'users:manage',
    section: lazy(async () => (await import('./settings-user-groups.tsx')).UserGroupsSection),
  },
  machines: {
    needs: 'users:manage',
    section: lazy(async () => (await import('./settings-machines.tsx')).MachinesSection),
  },
  groups: {
    needs: 'settings:manage',
    section: lazy(async () => (await import('./settings-groups.tsx')).GroupsSection),
  },
  labels: {
    needs: 'settings:manage',
    section: lazy(async () => (await import('./settings-labels.tsx')).LabelsSection),
  },
  'label-rules': {
    needs: 'settings:manage',
    section: lazy(async () => (await import('./settings-label-rules.tsx')).LabelRulesSection),
  },
  approvals: {
    needs: 'settings:manage',
    section: lazy(async () => (await import('./settings-approvals.tsx')).ApprovalsSection),
  },
  processes: {
    needs: 'settings:manage',
    section: lazy(async () => (await import('./settings-processes.tsx')).ProcessesSection),
  },
  links: {
    needs: 'settings:manage',
    section: lazy(async () => (await import('./settings-links.tsx')).LinksSection),
  },
  freeze: {
    needs: 'settings:manage',
    section: lazy(async () => (await import('./settings-freeze.tsx')).FreezeSection),
  },
  system: {
    needs: 'settings:manage',
    section: lazy(async () => (await import('./settings-system.tsx')).SystemSection),
  },
} as const

type Section = keyof typeof SECTIONS

/** The settings: the sections that the reader may open. */
export function SettingsPage({ params }: { params: Record<string, string> }) {
  const words = say(settingsTexts)
  const wanted = params['section'] ?? 'profile'
  const current = (wanted in SECTIONS ? wanted : 'profile') as Section
  const mayOpen = (id: Section) => SECTIONS[id].needs === null || may(SECTIONS[id].needs ?? '')
  const { section: Body } = SECTIONS[current]
  return (
    <>
      <Head title={words.title} />
      <div class="settings" style={{ marginTop: '24px' }}>
        <nav class="menu-list" aria-label={words.title}>
          {(Object.keys(SECTIONS) as Section[]).filter(mayOpen).map((id) => (
            <a key={id} href={`/settings/${id}`} aria-current={id === current ? 'page' : undefined}>
              {words.sections[id]}
            </a>
          ))}
        </nav>
        <div class="stack">{mayOpen(current) ? <Body /> : <p class="empty">{words.only}</p>}</div>
      </div>
    </>
  )
}
