import BridgeJSON
import BrowserBridge
import Foundation
import TestSupport
import Testing

/// The program's command line, and what it writes for browsers.
@Suite struct ProgramTests {
  @Test func exitStatusAndMessages() async throws {
    let origin = PipeStage.origin
    // (the arguments, the status, what is said)
    let cases: [([String], Int32, String)] = [
      (["--help"], 0, "Usage: focusd-browser"), (["--version"], 0, "focusd-browser "),
      (["install-host", "--help"], 0, "Usage: focusd-browser"),
      (["--nonsense"], 2, "unknown option '--nonsense'; see focusd-browser --help"),
      ([origin, "--nonsense"], 2, "unknown option '--nonsense'; see focusd-browser --help"),
      ([], 2, "a browser starts it"), (["x"], 2, "unexpected argument 'x'"),
      (["install-host", "netscape"], 2, "unknown browser 'netscape': it is one of brave, chrome, chromium, edge"),
      (["host-manifest", "firefox"], 2, "host-manifest requires a browser and an absolute path"),
      (["host-manifest", "firefox", "bin/x"], 2, "host-manifest requires a browser and an absolute path"),
      (["host-manifest", "edge", "/usr/bin/focusd-browser"], 0, "\"path\":\"/usr/bin/focusd-browser\""),
      (["install-host"], 1, "no profile of a browser"), (["uninstall-host"], 0, ""),
      ([origin, "--address", "unix:path=/nonexistent"], 0, ""),
      (["/x/org.focusd.browser.json", "browser@focusd.org", "--address", "unix:path=/nonexistent"], 0, ""),
    ]
    try await PrivateBus.with { bus in
      for (arguments, status, said) in cases {
        let process = try await bus.start([Products.browser] + arguments)
        process.closeInput()
        let result = try await process.result()
        #expect(result.status == status, "\(arguments) \(result)")
        #expect(said.isEmpty || (result.output + result.errors).contains { $0.contains(said) }, "\(result)")
      }
    }
  }

  @Test(arguments: ["host-manifest edge /usr/bin/x", "install-host firefox", "install-host --help", "--version"])
  func whatCannotBePrintedIsAFailure(arguments: String) async throws {
    try await PrivateBus.with { bus in
      for output in [">/dev/full", ">&-"] {
        let result = try await bus.run(["/bin/sh", "-c", "\(Products.browser) \(arguments) \(output)"])
        #expect(result.status == 1 && result.errorText.contains("cannot write to standard output"), "\(result)")
      }
    }
  }

  @Test func manifestsAreWrittenAndRemoved() async throws {
    try await PrivateBus.with { bus in
      func files() throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: bus.directory)
        return names.filter { $0.hasSuffix(".json") }.sorted()
      }
      func run(_ arguments: String...) async throws -> CommandResult {
        try await bus.run([Products.browser] + arguments)
      }
      try FileManager.default.createDirectory(
        atPath: bus.directory + "/.config/chromium", withIntermediateDirectories: true)
      #expect(try await run("install-host").succeeded)
      let chromium = ".config/chromium/NativeMessagingHosts/org.focusd.browser.json"
      let firefox = ".mozilla/native-messaging-hosts/org.focusd.browser.json"
      #expect(try files() == [chromium])
      // Where a new profile of Firefox is, since 147.
      try FileManager.default.createDirectory(
        atPath: bus.directory + "/.config/mozilla/firefox", withIntermediateDirectories: true)
      #expect(try await run("install-host").succeeded)
      #expect(try files() == [chromium, firefox])
      let installed = try await run("install-host", "firefox", "librewolf", "chromium")
      #expect(installed.succeeded && installed.output.count == 3, "\(installed)")
      #expect(try files() == [chromium, ".librewolf/native-messaging-hosts/org.focusd.browser.json", firefox])
      // (a manifest, the member that names who may start it, who that is)
      for (file, member, allowed) in [
        (chromium, "allowed_origins", PipeStage.origin), (firefox, "allowed_extensions", "browser@focusd.org"),
      ] {
        let json = try #require(JSON([UInt8](Data(contentsOf: URL(fileURLWithPath: bus.directory + "/" + file)))))
        #expect(json["name"]?.text == "org.focusd.browser" && json["type"]?.text == "stdio")
        let path = try #require(json["path"]?.text)
        #expect(
          URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            == URL(fileURLWithPath: Products.browser).resolvingSymlinksInPath().path)
        #expect(json[member]?.elements.map(\.text) == [allowed])
      }
      let removed = try await run("uninstall-host", "firefox")
      #expect(removed.output.count == 1, "\(removed)")
      #expect(try await run("uninstall-host").output.count == 2)
      #expect(try files().isEmpty)
      #expect(!FileManager.default.fileExists(atPath: bus.directory + "/.config/chromium/NativeMessagingHosts"))
      // The folder of a browser that the user has is not taken away.
      #expect(FileManager.default.fileExists(atPath: bus.directory + "/.config/chromium"))
      try Data().write(to: URL(fileURLWithPath: bus.directory + "/.config/vivaldi"))
      #expect(try await run("install-host", "vivaldi").status == 1)
    }
  }

  @Test(arguments: [
    (["firefox-esr"], true), (["/usr/lib/chromium/chromium"], true), (["comm", "/opt/google/chrome/chrome"], true),
    (["firefox "], false), (["bash", "/bin/bash"], false), ([""], false), ([], false),
  ])
  func browsersAreKnownByTheirPrograms(names: [String], isBrowser: Bool) {
    #expect(Browser.isBrowser(names) == isBrowser)
  }

  /// Chromium derives an extension's name from the key in its manifest.
  @Test func theExtensionsNamesAreThoseOfItsManifest() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sources/BrowserBridge/Extension/manifest.json")
    let json = try #require(JSON([UInt8](Data(contentsOf: file))))
    #expect(json["browser_specific_settings"]?["gecko"]?["id"]?.text == HostManifest.firefoxExtension)
    #expect(json["incognito"]?.text == "not_allowed")
    #expect(json["host_permissions"] == nil && json["content_scripts"] == nil)
    #expect(PipeStage.origin == "chrome-extension://\(HostManifest.chromiumExtension)/")
  }
}
