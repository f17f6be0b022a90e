internal import Foundation

/// Whether the programs that are tested carry a sanitizer, which keeps what was freed: then memory tells nothing.
package let isSanitized = ProcessInfo.processInfo.environment["FOCUSD_SANITIZED"] != nil
