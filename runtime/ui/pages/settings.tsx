import { say } from '../i18n/define.ts'
import { settingsTexts } from '../i18n/settings.ts'
import { sectionTexts } from '../i18n/settings-sections.ts'
import { listSections, SETTINGS_SECTIONS, type SettingsSection } from '../logic/settings-sections.ts'
import { lazy } from '../parts/lazy.tsx'
import { LeftOutFor } from '../parts/left-out-for.tsx'
import { Head } from '../parts/page.tsx'
import { may } from '../state/session.ts'
import { ProfileSection } from './settings-profile.tsx'

const SECTIONS = {
  profile: ProfileSection,
  tokens: lazy(async () => (await import('./settings-tokens.tsx')).TokensSection),
  users: lazy(async () => (await import('./settings-users.tsx')).UsersSection),
  'user-groups': lazy(async () => (await import('./settings-user-groups.tsx')).UserGroupsSection),
  machines: lazy(async () => (await import('./settings-machines.tsx')).MachinesSection),
  'single-sign-on': lazy(async () => (await import('./settings-single-sign-on.tsx')).SingleSignOnSection),
  groups: lazy(async () => (await import('./settings-groups.tsx')).GroupsSection),
  labels: lazy(async () => (await import('./settings-labels.tsx')).LabelsSection),
  'label-rules': lazy(async () => (await import('./settings-label-rules.tsx')).LabelRulesSection),
  approvals: lazy(async () => (await import('./settings-approvals.tsx')).ApprovalsSection),
  processes: lazy(async () => (await import('./settings-processes.tsx')).ProcessesSection),
  links: lazy(async () => (await import('./settings-links.tsx')).LinksSection),
  freeze: lazy(async () => (await import('./settings-freeze.tsx')).FreezeSection),
  system: lazy(async () => (await import('./settings-system.tsx')).SystemSection),
} satisfies Record<SettingsSection, unknown>

/** The settings: the sections that the reader may open. */
export function SettingsPage({ params }: { params: Record<string, string> }) {
  const words = say(settingsTexts)
  const wanted = params['section'] ?? 'profile'
  const names = say(sectionTexts)
  const current = (wanted in SECTIONS ? wanted : 'profile') as SettingsSection
  const open = listSections(may)
  const Body = SECTIONS[current]
  const needs = SETTINGS_SECTIONS[current]
  return (
    <>
      <Head
        title={names[current]}
        inTab={`${names[current]} · ${words.title}`}
        beside={<span class="muted">{words.title}</span>}
      />
      <div class="settings" style={{ marginTop: '24px' }}>
        <nav class="menu-list" aria-label={words.title}>
          {open.map((id) => (
            <a key={id} href={`/settings/${id}`} aria-current={id === current ? 'page' : undefined}>
              {names[id]}
            </a>
          ))}
        </nav>
        <div class="stack">{needs === null || may(needs) ? <Body /> : <LeftOutFor permission={needs} />}</div>
      </div>
    </>
  )
}
