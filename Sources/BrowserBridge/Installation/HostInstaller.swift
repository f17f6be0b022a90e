package import EventLoop
internal import Glibc
internal import ProgramSupport

/// Writes and removes the manifests of one user's browsers.
package struct HostInstaller {
  /// A browser that is not known, or a home that is not set.
  package struct Misuse: Error, CustomStringConvertible {
    package let description: String
  }

  private let home: String
  private let configuration: String

  /// Works below the home directory `home`, and below `configuration`, which `XDG_CONFIG_HOME` names; if that is nil, below
  /// `.config` of the home directory.
  package init(home: String, configuration: String?) {
    self.home = home
    self.configuration = configuration ?? home + "/.config"
  }

  /// Where a folder of a browser is.
  private func location(of folder: String) -> String {
    let prefix = ".config/"
    return folder.hasPrefix(prefix) ? "\(configuration)/\(folder.dropFirst(prefix.count))" : "\(home)/\(folder)"
  }

  /// The browsers of these names; without names, those of which the user has a profile.
  /// - Throws: `Misuse` for a name that is not known.
  package func browsers(_ names: [String]) throws(Misuse) -> [Browser] {
    guard !names.isEmpty else {
      return Browser.all.filter { $0.profiles.contains { access(location(of: $0), F_OK) == 0 } }
    }
    var browsers: [Browser] = []
    for name in names {
      guard let browser = Browser.named(name) else {
        let known = Browser.all.map(\.name).joined(separator: ", ")
        throw Misuse(description: "unknown browser '\(name)': it is one of \(known)")
      }
      browsers.append(browser)
    }
    return browsers
  }

  /// Writes the manifest of the host at `path` for a browser.
  /// - Throws: `SystemError` if it cannot be written.
  /// - Returns: the manifest's path.
  package func install(_ browser: Browser, host path: String) throws(SystemError) -> String {
    let folder = location(of: browser.folder)
    // Browsers keep what is private in these.
    if let missing = StateDirectory.make(folder) { throw SystemError("create \(missing)") }
    let file = "\(folder)/\(HostManifest.fileName)"
    let new = "\(file).new.\(getpid())"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw SystemError("create \(new)") }
    let bytes = Array(HostManifest.text(for: browser.kind, host: path).utf8)
    let isWritten = write(descriptor, bytes, bytes.count) == bytes.count
    let error = SystemError("write \(new)")
    guard close(descriptor) == 0, isWritten else {
      unlink(new)
      throw error
    }
    guard rename(new, file) == 0 else {
      let error = SystemError("rename \(new)")
      unlink(new)
      throw error
    }
    return file
  }

  /// Removes the manifest of a browser, and its folder if that is empty.
  /// - Throws: `SystemError` if it is there and cannot be removed.
  /// - Returns: the manifest's path; nil if it was not there.
  package func uninstall(_ browser: Browser) throws(SystemError) -> String? {
    let folder = location(of: browser.folder)
    let file = "\(folder)/\(HostManifest.fileName)"
    guard unlink(file) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw SystemError("remove \(file)")
    }
    rmdir(folder)
    return file
  }
}
