/** The sections of the settings in their order, each with the right that it needs; null for everybody's own. */
export const SETTINGS_SECTIONS = {
  profile: null,
  tokens: null,
  users: 'users:manage',
  'user-groups': 'users:manage',
  machines: 'users:manage',
  'single-sign-on': 'settings:manage',
  groups: 'settings:manage',
  labels: 'settings:manage',
  'label-rules': 'settings:manage',
  approvals: 'settings:manage',
  processes: 'settings:manage',
  links: 'settings:manage',
  freeze: 'settings:manage',
  system: 'settings:manage',
} as const

/** The id of a section, as the address has it. */
export type SettingsSection = keyof typeof SETTINGS_SECTIONS

/** The sections that somebody with these rights may open. */
export const listSections = (may: (right: string) => boolean): SettingsSection[] =>
  (Object.keys(SETTINGS_SECTIONS) as SettingsSection[]).filter((id) => {
    const needs = SETTINGS_SECTIONS[id]
    return needs === null || may(needs)
  })
