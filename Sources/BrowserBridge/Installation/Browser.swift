/// A browser that starts native messaging hosts, and where it looks for their manifests.
package struct Browser: Sendable {
  /// What a host's manifest says of the extensions that may start it.
  package enum Kind: Sendable {
    case chromium, firefox
  }

  /// The name on the command line.
  package let name: String
  package let kind: Kind
  /// The user's folder of manifests, below the home directory; what begins with `.config` is below `XDG_CONFIG_HOME`.
  package let folder: String
  /// The folders of which one shows that the user has the browser.
  package let profiles: [String]
  /// The programs of the browser, as the system names them.
  package let programs: [String]

  /// A browser with its manifests in its `profile`, whose profiles may be in the folder `newProfile` instead.
  private init(_ name: String, _ kind: Kind, profile: String, newProfile: String? = nil, programs: [String]) {
    (self.name, self.kind, self.programs) = (name, kind, programs)
    profiles = [profile] + (newProfile.map { [$0] } ?? [])
    folder = profile + (kind == .chromium ? "/NativeMessagingHosts" : "/native-messaging-hosts")
  }

  /// The browsers that are known.
  package static let all = [
    Browser("brave", .chromium, profile: ".config/BraveSoftware/Brave-Browser", programs: ["brave", "brave-browser"]),
    Browser("chrome", .chromium, profile: ".config/google-chrome", programs: ["chrome", "google-chrome"]),
    Browser(
      "chromium", .chromium, profile: ".config/chromium",
      programs: ["chromium", "chromium-browser", "headless_shell", "chrome-headless-shell"]),
    Browser("edge", .chromium, profile: ".config/microsoft-edge", programs: ["msedge", "microsoft-edge"]),
    // Since 147 it may have its profiles elsewhere, and finds manifests as before: https://bugzilla.mozilla.org/2005167
    Browser(
      "firefox", .firefox, profile: ".mozilla", newProfile: ".config/mozilla",
      programs: ["firefox", "firefox-esr", "firefox-bin"]),
    Browser("librewolf", .firefox, profile: ".librewolf", programs: ["librewolf", "librewolf-bin"]),
    Browser("vivaldi", .chromium, profile: ".config/vivaldi", programs: ["vivaldi", "vivaldi-bin"]),
  ]

  /// The browser of that name.
  package static func named(_ name: String) -> Browser? { all.first { $0.name == name } }

  /// Whether a process that goes by `names`, which may be paths, is a browser.
  package static func isBrowser(_ names: [String]) -> Bool {
    names.contains { name in
      let program = name.split(separator: "/").last.map(String.init) ?? ""
      return all.contains { $0.programs.contains(program) }
    }
  }
}
