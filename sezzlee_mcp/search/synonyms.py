"""Words that backends use for the same thing: what somebody calls a bill is an API's invoice."""

from collections import defaultdict
from collections.abc import Iterable

from sezzlee_mcp.search.tokens import tokenize

# Nouns of what backends are about, their usual abbreviations and other spellings. Left out is what would mislead more
# often than help: words of many meanings, and those that most backends have for something of their own.
_GROUPS = (
    *("absence leave", "academy college school", "account acct", "ad advert advertisement banner", "addon plugin"),
    *("addr address", "addressee receiver recipient", "admin administrator", "agenda calendar schedule timetable"),
    *("agreement contract", "alarm alert notification", "alias nickname", "allowance budget", "allowlist whitelist"),
    *("amount sum total", "analyse analyze", "analytics stat statistic stats", "annotation comment memo note remark"),
    *("answer reply response", "apikey token", "app application", "applicant candidate"),
    *("appointment booking meeting reservation", "argument param parameter", "artefact artifact", "asset equipment"),
    *("attachment doc document file upload", "attendee participant", "attribute property", "audio recording sound"),
    *("audit history journal log", "auth authentication", "author writer", "authorisation authorization"),
    *("automation workflow", "automobile car truck vehicle", "average avg mean", "baby child infant kid"),
    *("backup snapshot", "barcode ean gtin upc", "basket cart", "behavior behaviour", "bill invoice"),
    *("birthdate birthday dob", "blacklist blocklist denylist", "blueprint boilerplate template"),
    *("bookmark favorite favourite", "bug defect issue ticket", "building facility premises"),
    *("business company corporation enterprise firm", "buyer client customer shopper", "cabinet rack"),
    *("callback webhook", "caregiver carer", "carrier courier", "catalog catalogue", "category taxonomy"),
    *("cellphone mobile phone tel telephone", "center centre", "cert certificate", "changeset commit"),
    *("channel chatroom room", "charge fee", "chart diagram graph plot", "check cheque", "chore task todo"),
    *("cidr prefix subnet", "city municipality town", "clinic hospital", "clinician doctor physician practitioner"),
    *("clip film movie video", "color colour", "compensation payroll salary wage", "competence competency skill"),
    *("conf config configuration", "consignment delivery shipment shipping", "contribution donation"),
    *("conversation discussion thread", "coordinate geolocation gps", "cost price", "country nation"),
    *("coupon promo voucher", "cpu processor", "credential secret", "crew squad team", "criticality severity"),
    *("cv resume", "cve vulnerability weakness", "dashboard overview summary", "database db"),
    *("datacenter datacentre", "datetime timestamp", "deadline due duedate", "deal opportunity"),
    *("department dept division", "dependency prerequisite", "deployment rollout", "depot warehouse"),
    *("desc description", "dev development", "diaper nappy", "directory folder", "disbursement payout"),
    *("discount markdown rebate", "disease illness sickness", "dish food meal", "disk storage volume"),
    *("drug medicament medication medicine", "earnings income revenue", "email mail"),
    *("employee personnel staff worker", "enrollment enrolment", "entitlement perm permission privilege right"),
    *("env environment", "error exception failure", "estimate quotation quote", "exam examination quiz"),
    *("exercise training workout", "expenditure expense spending", "expiration expiry", "feedback rating review"),
    *("firstname forename", "follower subscriber", "foodstuff ingredient", "forecast prediction", "fqdn hostname"),
    *("fulfillment fulfilment", "gender sex", "gist snippet", "goal objective target"),
    *("goods merchandise product sku", "grade score", "gray grey", "gst tax vat", "guarantee warranty"),
    *("guest visitor", "guide handbook manual", "heading headline title", "healthcheck monitor"),
    *("holiday pto vacation", "host machine server vm", "human individual people person", "hyperlink link uri url"),
    *("image img photo photograph picture screenshot", "immunisation immunization jab vaccination vaccine"),
    *("incident outage", "info information", "instructor lecturer teacher tutor", "inventory stock"),
    *("iteration sprint", "journey ride trip", "k8s kubernetes", "keyword label tag", "kpi measurement metric"),
    *("lang language locale", "lastname surname", "lat latitude", "lead prospect", "learner pupil student"),
    *("lecture lesson", "licence license", "lng lon longitude", "localisation localization translation"),
    *("location place site", "login logon signin", "mailing newsletter", "maker manufacturer producer"),
    *("manager supervisor", "mass weight", "max maximum", "memory ram", "message msg"),
    *("mfa otp tfa totp", "min minimum", "namespace ns", "nap sleep", "opening vacancy"),
    *("option pref preference setting", "org organisation organization", "package parcel", "page webpage"),
    *("passphrase passwd password pwd", "path route", "payment remittance", "pct percent percentage"),
    *("poll questionnaire survey", "postal postcode zipcode", "prescription rx", "priority urgency"),
    *("prod production", "program programme", "province region", "qty quantity", "ref reference"),
    *("refund reimbursement repayment", "release revision version", "repo repository", "roster rota shift"),
    *("service svc", "shop store storefront", "skin theme", "spec specification", "supplier vendor"),
    *("sync synchronisation synchronization", "temp temperature", "tenant workspace", "thumb thumbnail"),
    *("timezone tz", "transaction txn", "var variable", "variant variation"),
)
ENGLISH: tuple[tuple[str, ...], ...] = tuple(tuple(group.split()) for group in _GROUPS)


class Synonyms:
    """The synonyms of one language, given in groups: each word of a group may stand for each other."""

    def __init__(self, groups: Iterable[Iterable[str]] = ENGLISH) -> None:
        tokens: defaultdict[str, set[str]] = defaultdict(set)
        for group in groups:
            group_tokens = {token for word in group for token in tokenize(word)}
            for token in group_tokens:
                tokens[token] |= group_tokens - {token}
        self._tokens = {token: tuple(sorted(others)) for token, others in tokens.items()}

    def of(self, token: str) -> tuple[str, ...]:
        """The tokens that may stand for one, by code point."""
        return self._tokens.get(token, ())
