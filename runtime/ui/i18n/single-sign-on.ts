import { defineTexts, plural } from './define.ts'
import { formatNumber } from './format.ts'

/** Texts of how people sign in with an identity provider. */
export const signOnTexts = defineTexts({
  en: {
    on: (name: string) => `People sign in with ${name}.`,
    off: 'No identity provider is configured: everybody signs in with a password of muster.',
    asConfigured:
      'This is what the process was started with. Nothing is asked of the provider until somebody signs in.',
    fields: {
      issuer: 'Issuer',
      client: 'Client',
      auth: 'The secret is sent',
      scopes: 'Scopes',
      claim: 'Claim with the groups',
      session: 'A session lasts',
      passwords: 'Passwords',
    },
    auths: { basic: 'in the header (basic)', post: 'in the body (post)', none: 'not at all: there is none' },
    hours: (count: number) => `${formatNumber(count)} ${plural(count, 'hour', 'hours')}`,
    passwordsAll: 'every local user may sign in with one',
    passwordsOnly: (who: string) => `only ${who}`,
    register: 'To register at the provider',
    redirect: 'Redirect URI',
    logout: 'Back-channel logout URI',
    noAddress: 'Set MUSTER_PUBLIC_URL: these addresses derive from it.',
    groups: 'Groups',
    groupsLead: 'Whoever has none of these groups at the provider does not get in.',
    noMap:
      'No groups map: everybody of the provider gets in, may look at the fleet, and is given groups here. OIDC_GROUP_MAP says otherwise.',
    theirs: 'At the provider',
    ours: 'Here',
    missing: (name: string) => `${name}: there is no such group here`,
    setUp: 'How to set it up',
    steps: [
      'Register a web application (authorization code with PKCE) at the provider, with the two addresses above.',
      'Start muster with these settings; muster --check-config says whether it understood them.',
    ],
    settings: {
      MUSTER_PUBLIC_URL: 'the address of muster for browsers',
      OIDC_ISSUER: 'the issuer’s address, of one tenant',
      OIDC_CLIENT_ID: 'what the provider calls the application',
      OIDC_CLIENT_SECRET_FILE: 'the file with its secret',
      OIDC_GROUP_MAP: 'which of its groups give which here, as JSON',
      OIDC_NAME: 'the name on the button',
    },
    manual: 'More of it: README.md, “Sign in with an identity provider”.',
  },
  fr: {
    on: (name: string) => `On se connecte avec ${name}.`,
    off: 'Aucun fournisseur d’identité n’est configuré : chacun se connecte avec un mot de passe de muster.',
    asConfigured:
      'C’est ce avec quoi le processus a été démarré. Rien n’est demandé au fournisseur avant une connexion.',
    fields: {
      issuer: 'Émetteur',
      client: 'Client',
      auth: 'Le secret est envoyé',
      scopes: 'Portées',
      claim: 'Attribut des groupes',
      session: 'Une session dure',
      passwords: 'Mots de passe',
    },
    auths: {
      basic: 'dans l’en-tête (basic)',
      post: 'dans le corps (post)',
      none: 'jamais : il n’y en a pas',
    },
    hours: (count: number) => `${formatNumber(count)} ${plural(count, 'heure', 'heures')}`,
    passwordsAll: 'chaque utilisateur local peut s’en servir',
    passwordsOnly: (who: string) => `seulement ${who}`,
    register: 'À enregistrer chez le fournisseur',
    redirect: 'Adresse de retour',
    logout: 'Adresse de déconnexion (back-channel)',
    noAddress: 'Réglez MUSTER_PUBLIC_URL : ces adresses en découlent.',
    groups: 'Groupes',
    groupsLead: 'Qui n’a aucun de ces groupes chez le fournisseur n’entre pas.',
    noMap:
      'Aucun groupe n’est mis en correspondance : tout le monde du fournisseur entre, voit le parc, et reçoit ses groupes ici. OIDC_GROUP_MAP en décide autrement.',
    theirs: 'Chez le fournisseur',
    ours: 'Ici',
    missing: (name: string) => `${name} : ce groupe n’existe pas ici`,
    setUp: 'Comment la mettre en place',
    steps: [
      'Enregistrez une application web (code d’autorisation avec PKCE) chez le fournisseur, avec les deux adresses ci-dessus.',
      'Démarrez muster avec ces réglages ; muster --check-config dit s’il les a compris.',
    ],
    settings: {
      MUSTER_PUBLIC_URL: 'l’adresse de muster pour les navigateurs',
      OIDC_ISSUER: 'l’adresse de l’émetteur, d’un seul locataire',
      OIDC_CLIENT_ID: 'comment le fournisseur appelle l’application',
      OIDC_CLIENT_SECRET_FILE: 'le fichier de son secret',
      OIDC_GROUP_MAP: 'lesquels de ses groupes donnent lesquels ici, en JSON',
      OIDC_NAME: 'le nom sur le bouton',
    },
    manual: 'Davantage : README.md (en anglais), « Sign in with an identity provider ».',
  },
})
