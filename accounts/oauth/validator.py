"""The rules of this hub inside django-oauth-toolkit: what may be asked for, and how grants begin, go on and end."""

from typing import Any

from django.db import transaction
from oauth2_provider.models import AccessToken, RefreshToken
from oauth2_provider.models import Grant as CodeGrant
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.oauth2.rfc6749 import errors

from accounts.domain.grants import begin_grant, connect_grant, end_grant, live_grant
from accounts.domain.resources import known_resource, whole_hub
from accounts.domain.tokens import checksum
from accounts.models import Grant
from accounts.scopes import Scope

KNOWN = frozenset(map(str, Scope))
AGAIN = "It was used before: the client is disconnected and has to be let in anew."


class Validator(OAuth2Validator):  # type: ignore[misc]
    def validate_scopes(
        self, client_id: str, scopes: list[str], client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """What nobody may grant is never offered; what is left has to be something."""
        request.scopes = [s for s in dict.fromkeys(scopes) if s in KNOWN]
        return bool(request.scopes)

    def _create_authorization_code(self, request: Any, code: dict[str, str], expires: Any = None) -> Any:
        """The code and the grant that it begins, or neither."""
        hashed = checksum(code["code"])
        with transaction.atomic():
            begin_grant(
                request.consent,
                request.client,
                redirect=request.redirect_uri,
                scopes=request.scopes,
                resources=request.resource,
                code_hash=hashed,
            )
            return super()._create_authorization_code(request, {"code": hashed}, expires)

    def validate_code(
        self, client_id: str, code: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        begun = Grant.objects.filter(code_hash=code, application=client).first()
        if begun is not None and begun.connected_at is not None:
            end_grant(begun.id)
            return False
        known = super().validate_code(client_id, code, client, request, *args, **kwargs)
        request.code_grant = CodeGrant.objects.filter(code=code, application=client).first()
        return bool(known and request.code_grant and begun is not None and live_grant(begun.id))

    def get_code_challenge(self, code: str, request: Any) -> str | None:
        """Of the code as it was found valid: somebody else may have come with it meanwhile."""
        return request.code_grant.code_challenge or None

    def get_code_challenge_method(self, code: str, request: Any) -> str | None:
        return request.code_grant.code_challenge_method or None

    def confirm_redirect_uri(
        self,
        client_id: str,
        code: str,
        redirect_uri: str,
        client: Any,
        request: Any,
        *args: Any,
        **kwargs: Any,
    ) -> bool:
        return bool(request.code_grant.redirect_uri_allowed(redirect_uri))

    def validate_refresh_token(
        self, refresh_token: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        if super().validate_refresh_token(refresh_token, client, request, *args, **kwargs):
            return live_grant(request.refresh_token_instance.token_family) is not None
        spent = RefreshToken.objects.filter(token_checksum=checksum(refresh_token), application=client)
        for token in spent.exclude(revoked=None):
            end_grant(token.token_family)
        return False

    def save_bearer_token(self, token: dict[str, Any], request: Any, *args: Any, **kwargs: Any) -> None:
        """Of two that come at once with the same code or refresh token, the second ends what the first got."""
        with transaction.atomic():
            grant = self._continued(request)
            if grant is not None:
                request.grant = grant
                self._save_bearer_token(token, request, *args, **kwargs)
        if grant is None:
            self._end_of(request)
            raise errors.InvalidGrantError(description=AGAIN, request=request)

    def _continued(self, request: Any) -> Grant | None:
        if request.grant_type == "authorization_code":
            return connect_grant(request.code, request.client)
        held = RefreshToken.objects.select_for_update().filter(pk=request.refresh_token_instance.pk)
        token = held.filter(revoked=None).first()
        return live_grant(token.token_family) if token else None

    def _end_of(self, request: Any) -> None:
        if request.grant_type == "authorization_code":
            begun = Grant.objects.filter(code_hash=request.code, application=request.client).first()
            end_grant(begun.id if begun else None)
        else:
            end_grant(request.refresh_token_instance.token_family)

    def _create_refresh_token(
        self, request: Any, refresh_token_code: str, access_token: Any, previous_refresh_token: Any
    ) -> Any:
        """The family has the grant's id."""
        token = RefreshToken(
            user=request.user,
            application=request.client,
            access_token=access_token,
            token_family=request.grant.id,
            resource=request.resource,
        )
        self._set_token_value(token, refresh_token_code)
        token.save()
        return token

    def _check_and_set_request_resource(self, request: Any) -> None:
        """Names of one resource count as one; another than those that were granted is refused by the toolkit."""
        named = getattr(request, "resource", None)
        if named:
            sent = [v for name, v in request.decoded_body or [] if name == "resource"] or [named]
            request.resource = [known_resource(uri) or self._foreign(request) for uri in sent]
        super()._check_and_set_request_resource(request)
        request.resource = request.resource or [whole_hub()]

    def _foreign(self, request: Any) -> str:
        raise errors.CustomOAuth2Error(
            error="invalid_target", description="No such resource is served here.", request=request
        )

    def revoke_token(self, token: str, token_type_hint: str, request: Any, *args: Any, **kwargs: Any) -> None:
        """Either token ends all that it belongs to, and only for the client whose it is."""
        hashed = {"token_checksum": checksum(token), "application": request.client}
        renewing = RefreshToken.objects.filter(**hashed).first()
        calling = AccessToken.objects.filter(**hashed).select_related("refresh_token").first()
        of = renewing or (getattr(calling, "refresh_token", None) if calling else None)
        end_grant(of.token_family if of else None)

    def is_origin_allowed(self, client_id: str, origin: str, request: Any, *args: Any, **kwargs: Any) -> bool:
        """The whole server says which origins may read its answers, not a client."""
        return False
